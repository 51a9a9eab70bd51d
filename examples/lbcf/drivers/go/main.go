// A driver for LBCF in plain Go, from LBCF's specification of its webhooks: an HTTP server in front of a toy load
// balancer that is a table in memory. It does what ../node/server.mjs does.
//
//	go run .                                    # in this folder; PORT=11029, on 127.0.0.1
//	curl -s http://127.0.0.1:11029/servers      # what the toy load balancers hold
//
// Requests are decoded strictly: an unknown field, or one of another type, is answered with 400.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
)

type texts map[string]string

// ids are those of the hooks that are retried.
type ids struct {
	RecordID string `json:"recordID"`
	RetryID  string `json:"retryID"`
	DryRun   bool   `json:"dryRun"`
}

type validateLoadBalancerRequest struct {
	LBSpec        texts  `json:"lbSpec"`
	Operation     string `json:"operation"`
	Attributes    texts  `json:"attributes"`
	OldAttributes texts  `json:"oldAttributes"`
	DryRun        bool   `json:"dryRun"`
}

type createLoadBalancerRequest struct {
	ids
	LBSpec     texts `json:"lbSpec"`
	Attributes texts `json:"attributes"`
}

type loadBalancerRequest struct {
	ids
	LBInfo     texts `json:"lbInfo"`
	Attributes texts `json:"attributes"`
}

// Old parameters have two spellings; fields of Go match both.
type validateBackendRequest struct {
	BackendType   string `json:"backendType"`
	LBInfo        texts  `json:"lbInfo"`
	Operation     string `json:"operation"`
	Parameters    texts  `json:"parameters"`
	OldParameters texts  `json:"oldParameters"`
	DryRun        bool   `json:"dryRun"`
}

type port struct {
	Port       int32  `json:"port"`
	PortNumber int32  `json:"portNumber"`
	Protocol   string `json:"protocol"`
}

// pod and service are objects of Kubernetes, of which little is read.
type pod struct {
	Status struct {
		PodIP string `json:"podIP"`
	} `json:"status"`
}

type service struct {
	Spec struct {
		Ports []struct {
			Port     int32 `json:"port"`
			NodePort int32 `json:"nodePort"`
		} `json:"ports"`
	} `json:"spec"`
}

type generateBackendAddrRequest struct {
	ids
	LBInfo       texts `json:"lbInfo"`
	LBAttributes texts `json:"lbAttributes"`
	Parameters   texts `json:"parameters"`
	PodBackend   *struct {
		Pod  json.RawMessage `json:"pod"`
		Port port            `json:"port"`
	} `json:"podBackend"`
	ServiceBackend *struct {
		Service       json.RawMessage `json:"service"`
		Port          port            `json:"port"`
		NodeName      string          `json:"nodeName"`
		NodeAddresses []struct {
			Type    string `json:"type"`
			Address string `json:"address"`
		} `json:"nodeAddresses"`
	} `json:"serviceBackend"`
}

type backendRequest struct {
	ids
	LBInfo       texts  `json:"lbInfo"`
	BackendAddr  string `json:"backendAddr"`
	Parameters   texts  `json:"parameters"`
	InjectedInfo texts  `json:"injectedInfo"`
}

type judgeRequest struct {
	NotReadyPods []json.RawMessage `json:"notReadyPods"`
	DryRun       bool              `json:"dryRun"`
}

// answer of a hook that is retried. As LBCF's own types, it always has every field.
type answer struct {
	Status                 string `json:"status"`
	Msg                    string `json:"msg"`
	MinRetryDelayInSeconds int32  `json:"minRetryDelayInSeconds"`
	LBInfo                 texts  `json:"lbInfo"`
	BackendAddr            string `json:"backendAddr"`
	InjectedInfo           texts  `json:"injectedInfo"`
}

type verdict struct {
	Succ            bool   `json:"succ"`
	Msg             string `json:"msg"`
	DoNotDeregister []any  `json:"doNotDeregister"`
}

type server struct {
	Weight int `json:"weight"`
}

type loadBalancer struct {
	Attributes texts             `json:"attributes"`
	Servers    map[string]server `json:"servers"`
}

type driver struct {
	sync.Mutex
	loadBalancers map[string]*loadBalancer
	begun         map[string]bool
}

func (d *driver) running(recordID, what string) answer {
	d.begun[recordID] = true
	return answer{Status: "Running", Msg: what, MinRetryDelayInSeconds: 1}
}

func (d *driver) validateLoadBalancer(request validateLoadBalancerRequest) any {
	if request.LBSpec["id"] == "" {
		return verdict{Msg: "lbSpec.id is missing: name the toy load balancer"}
	}
	return verdict{Succ: true}
}

func (d *driver) createLoadBalancer(request createLoadBalancerRequest) any {
	id := request.LBSpec["id"]
	if d.loadBalancers[id] == nil {
		if !d.begun[request.RecordID] {
			return d.running(request.RecordID, "making "+id)
		}
		d.loadBalancers[id] = &loadBalancer{Attributes: present(request.Attributes), Servers: map[string]server{}}
	}
	return answer{Status: "Succ", LBInfo: texts{"id": id}}
}

func (d *driver) ensureLoadBalancer(request loadBalancerRequest) any {
	lb := d.loadBalancers[request.LBInfo["id"]]
	if lb == nil {
		return answer{Status: "Fail", Msg: "there is no load balancer " + request.LBInfo["id"]}
	}
	lb.Attributes = present(request.Attributes)
	return answer{Status: "Succ"}
}

func (d *driver) deleteLoadBalancer(request loadBalancerRequest) any {
	delete(d.loadBalancers, request.LBInfo["id"])
	return answer{Status: "Succ"}
}

func (d *driver) validateBackend(request validateBackendRequest) any {
	if _, err := weightOf(request.Parameters); err != nil {
		return verdict{Msg: err.Error()}
	}
	return verdict{Succ: true}
}

func (d *driver) generateBackendAddr(request generateBackendAddrRequest) any {
	if backend := request.PodBackend; backend != nil {
		var of pod
		if err := json.Unmarshal(backend.Pod, &of); err != nil {
			return answer{Status: "Fail", Msg: err.Error()}
		}
		return answer{Status: "Succ", BackendAddr: fmt.Sprintf("%s:%d", of.Status.PodIP, backend.Port.PortNumber)}
	}
	backend := request.ServiceBackend
	var of service
	if err := json.Unmarshal(backend.Service, &of); err != nil {
		return answer{Status: "Fail", Msg: err.Error()}
	}
	for _, each := range of.Spec.Ports {
		for _, address := range backend.NodeAddresses {
			if each.Port == backend.Port.Port && address.Type == "InternalIP" {
				return answer{Status: "Succ", BackendAddr: fmt.Sprintf("%s:%d", address.Address, each.NodePort)}
			}
		}
	}
	return answer{Status: "Fail", Msg: "the node has no internal address, or the Service no such port"}
}

func (d *driver) ensureBackend(request backendRequest) any {
	lb := d.loadBalancers[request.LBInfo["id"]]
	if lb == nil {
		return answer{Status: "Fail", Msg: "there is no load balancer " + request.LBInfo["id"]}
	}
	weight, err := weightOf(request.Parameters)
	if err != nil {
		return answer{Status: "Fail", Msg: err.Error()}
	}
	if _, there := lb.Servers[request.BackendAddr]; !there && !d.begun[request.RecordID] {
		return d.running(request.RecordID, "registering "+request.BackendAddr)
	}
	lb.Servers[request.BackendAddr] = server{Weight: weight}
	return answer{Status: "Succ", InjectedInfo: texts{"registeredBy": "go-driver"}}
}

func (d *driver) deregisterBackend(request backendRequest) any {
	if lb := d.loadBalancers[request.LBInfo["id"]]; lb != nil {
		delete(lb.Servers, request.BackendAddr)
	}
	return answer{Status: "Succ"}
}

func (d *driver) judgePodDeregister(judgeRequest) any {
	return verdict{Succ: true}
}

func weightOf(parameters texts) (int, error) {
	text, given := parameters["weight"]
	if !given {
		return 1, nil
	}
	weight, err := strconv.Atoi(text)
	if err != nil || weight < 0 || weight > 100 {
		return 0, fmt.Errorf("parameters.weight is %s: write 0 to 100", text)
	}
	return weight, nil
}

// present is never null in the table.
func present(values texts) texts {
	if values == nil {
		return texts{}
	}
	return values
}

func hook[Request any](d *driver, answer func(Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request Request
		decoder := json.NewDecoder(r.Body)
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		d.Lock()
		defer d.Unlock()
		json.NewEncoder(w).Encode(answer(request))
	}
}

func main() {
	d := &driver{loadBalancers: map[string]*loadBalancer{}, begun: map[string]bool{}}
	http.HandleFunc("POST /validateLoadBalancer", hook(d, d.validateLoadBalancer))
	http.HandleFunc("POST /createLoadBalancer", hook(d, d.createLoadBalancer))
	http.HandleFunc("POST /ensureLoadBalancer", hook(d, d.ensureLoadBalancer))
	http.HandleFunc("POST /deleteLoadBalancer", hook(d, d.deleteLoadBalancer))
	http.HandleFunc("POST /validateBackend", hook(d, d.validateBackend))
	http.HandleFunc("POST /generateBackendAddr", hook(d, d.generateBackendAddr))
	http.HandleFunc("POST /ensureBackend", hook(d, d.ensureBackend))
	http.HandleFunc("POST /deregisterBackend", hook(d, d.deregisterBackend))
	http.HandleFunc("POST /judgePodDeregister", hook(d, d.judgePodDeregister))
	http.HandleFunc("GET /servers", func(w http.ResponseWriter, _ *http.Request) {
		d.Lock()
		defer d.Unlock()
		json.NewEncoder(w).Encode(d.loadBalancers)
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "11029"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	http.Serve(listener, nil)
}
