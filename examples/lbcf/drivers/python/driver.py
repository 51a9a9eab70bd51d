"""
A driver for LBCF in plain Python, from LBCF's specification of its webhooks: an HTTP server in front of a toy load
balancer that is a table in memory. It does what ../node/server.mjs does.

    python3 examples/lbcf/drivers/python/driver.py      # PORT=11029, on 127.0.0.1
    curl -s http://127.0.0.1:11029/servers              # what the toy load balancers hold

It knows no healthz: LBCF never called it, and a driver need not have it.
"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

load_balancers = {}  # id -> {"attributes": {...}, "servers": {address: {"weight": n}}}
begun = set()  # recordIDs that were answered with Running
lock = Lock()


def succ(**more):
    return {"status": "Succ", "msg": "", **more}


def fail(msg):
    return {"status": "Fail", "msg": msg}


def running(record_id, what):
    begun.add(record_id)
    return {"status": "Running", "msg": what, "minRetryDelayInSeconds": 1}


def text(values, key):
    """Empty maps arrive as null."""
    return (values or {}).get(key, "")


def validate_load_balancer(request):
    if text(request["lbSpec"], "id") == "":
        return {"succ": False, "msg": "lbSpec.id is missing: name the toy load balancer"}
    return {"succ": True, "msg": ""}


def create_load_balancer(request):
    name = text(request["lbSpec"], "id")
    if name not in load_balancers:
        if request["recordID"] not in begun:
            return running(request["recordID"], "making " + name)
        load_balancers[name] = {"attributes": request["attributes"] or {}, "servers": {}}
    return succ(lbInfo={"id": name})


def ensure_load_balancer(request):
    name = text(request["lbInfo"], "id")
    if name not in load_balancers:
        return fail("there is no load balancer " + name)
    load_balancers[name]["attributes"] = request["attributes"] or {}
    return succ()


def delete_load_balancer(request):
    """One that is gone is deleted."""
    load_balancers.pop(text(request["lbInfo"], "id"), None)
    return succ()


def validate_backend(request):
    weight = text(request["parameters"], "weight") or "1"
    if not weight.isdigit() or int(weight) > 100:
        return {"succ": False, "msg": "parameters.weight is %s: write 0 to 100" % weight}
    return {"succ": True, "msg": ""}


def generate_backend_addr(request):
    """The kind of backend that it is not arrives as null."""
    pod = request["podBackend"]
    if pod is not None:
        return succ(backendAddr="%s:%d" % (pod["pod"]["status"]["podIP"], pod["port"]["port"]))
    service = request["serviceBackend"]
    ports = service["service"]["spec"]["ports"]
    node_port = next(each["nodePort"] for each in ports if each["port"] == service["port"]["port"])
    address = next(each["address"] for each in service["nodeAddresses"] if each["type"] == "InternalIP")
    return succ(backendAddr="%s:%d" % (address, node_port))


def ensure_backend(request):
    """One that is there already only gets its weight."""
    lb = load_balancers.get(text(request["lbInfo"], "id"))
    if lb is None:
        return fail("there is no load balancer " + text(request["lbInfo"], "id"))
    address = request["backendAddr"]
    if address not in lb["servers"] and request["recordID"] not in begun:
        return running(request["recordID"], "registering " + address)
    lb["servers"][address] = {"weight": int(text(request["parameters"], "weight") or "1")}
    return succ(injectedInfo={"registeredBy": "python-driver"})


def deregister_backend(request):
    """One that is not there is deregistered."""
    lb = load_balancers.get(text(request["lbInfo"], "id"))
    if lb is not None:
        lb["servers"].pop(request["backendAddr"], None)
    begun.discard(request["recordID"].replace("deregisterBackend", "ensureBackend"))
    return succ()


def judge_pod_deregister(request):
    """No pod that is not ready stays."""
    return {"succ": True, "msg": "", "doNotDeregister": []}


HOOKS = {
    "/validateLoadBalancer": validate_load_balancer,
    "/createLoadBalancer": create_load_balancer,
    "/ensureLoadBalancer": ensure_load_balancer,
    "/deleteLoadBalancer": delete_load_balancer,
    "/validateBackend": validate_backend,
    "/generateBackendAddr": generate_backend_addr,
    "/ensureBackend": ensure_backend,
    "/deregisterBackend": deregister_backend,
    "/judgePodDeregister": judge_pod_deregister,
}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        hook = HOOKS.get(self.path)
        if hook is None:
            self.close_connection = True  # without an answer
            return
        with lock:
            self.answer(hook(json.loads(body)))

    def do_GET(self):
        with lock:
            self.answer(load_balancers)

    def answer(self, body):
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "11029"))), Handler)
    print("listening on http://127.0.0.1:%d" % server.server_port, flush=True)
    server.serve_forever()
