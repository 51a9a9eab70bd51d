/**
 * The tour: what people do with kubectl, as shell scripts that run in order, each on what the last one left.
 * `$TOUR` is this folder; a step may write into its working directory. Every step must end with the code given.
 */
import { ACCESS, WORKLOADS } from "./workload-steps.ts";

export interface Step {
  readonly title: string;
  readonly script: string;
  /** 0 where nothing is said. */
  readonly code?: number;
}

const APPLY: readonly Step[] = [
  { title: "apply a definition", script: "kubectl apply -f $TOUR/definition.yaml" },
  {
    // Its kind is found a moment later, by those who look for it by name.
    title: "wait until it is established",
    script: `kubectl wait --for=condition=Established crd/sights.tour.example.com --timeout=60s
      until kubectl get sights -A > /dev/null 2>&1; do sleep 0.1; done`,
  },
  { title: "apply one of every kind", script: "kubectl apply -f $TOUR/everything.yaml" },
  { title: "apply again: nothing changed", script: "kubectl apply -f $TOUR/everything.yaml" },
  {
    title: "diff a change",
    script: `sed -e 's/colour: red, shape: round/colour: blue/' -e 's/stars: 4/stars: 5/' $TOUR/everything.yaml |
      kubectl diff -f - | grep '^[+-] '`,
  },
  {
    title: "apply with changes",
    script: `sed -e 's/colour: red, shape: round/colour: blue, size: large/' -e 's/stars: 4/stars: 5/' \\
      -e 's/name: https, port: 443, targetPort: 8443, nodePort: 31443/name: alt, port: 8443, nodePort: 31844/' \\
      -e 's/web:1/web:2/' -e 's/holderIdentity: azlb-0/holderIdentity: azlb-1/' -e 's/ready: true/ready: false/' \\
      -e 's/mellon/friend/' $TOUR/everything.yaml > changed.yaml
      kubectl apply -f changed.yaml`,
  },
  { title: "apply them once more", script: "kubectl apply -f changed.yaml" },
  {
    title: "apply as a dry run of the server",
    script: "kubectl apply -f $TOUR/everything.yaml --dry-run=server -l app=web",
  },
  {
    title: "apply what the schema forbids",
    script:
      "sed -n '/kind: Sight/,$p' changed.yaml | sed '1i apiVersion: tour.example.com/v1' > sight.yaml; sed 's/stars: 5/stars: 9/' sight.yaml | kubectl apply -f -",
    code: 1,
  },
  {
    title: "apply what a rule over the old value forbids",
    script: "sed 's/city: paris/city: rome/' sight.yaml | kubectl apply -f -",
    code: 1,
  },
  {
    title: "create with an unknown field",
    script: "sed -e 's/name: tower/name: other/' -e 's/stars: 5/stars: 5, moons: 2/' sight.yaml | kubectl create -f -",
    code: 1,
  },
  {
    title: "create an event that describe finds by the Service's uid",
    script: `uid=$(kubectl get svc web -n tour -o jsonpath='{.metadata.uid}')
      echo '{"apiVersion":"v1","kind":"Event","metadata":{"name":"web.3","namespace":"tour"},"type":"Normal","count":3,
        "involvedObject":{"kind":"Service","apiVersion":"v1","name":"web","namespace":"tour","uid":"'$uid'"},
        "reason":"EnsuredLoadBalancer","message":"Ensured load balancer","source":{"component":"service-controller"},
        "firstTimestamp":"2026-01-02T03:04:05Z","lastTimestamp":"2026-01-02T03:05:05Z"}' | kubectl create -f -`,
  },
];

const GET: readonly Step[] = [
  ...["namespace tour", "node tour-node", "crd sights.tour.example.com"].flatMap((what) => [
    { title: `get ${what}`, script: `kubectl get ${what}` },
    { title: `get ${what}, wide`, script: `kubectl get ${what} -o wide` },
  ]),
  ...["configmap", "secret", "svc", "pod", "endpointslice", "lease", "events", "events.events.k8s.io", "st"].flatMap(
    (plural) => [
      { title: `get ${plural}`, script: `kubectl get ${plural} -n tour --sort-by=.metadata.name` },
      { title: `get ${plural}, wide`, script: `kubectl get ${plural} -n tour -o wide` },
      { title: `get ${plural}, as YAML`, script: `kubectl get ${plural} -n tour -o yaml` },
    ],
  ),
  { title: "get one as JSON", script: "kubectl get svc web -n tour -o json" },
  { title: "get several kinds at once", script: "kubectl get svc,cm,sight -n tour" },
  { title: "get all", script: "kubectl get all -n tour" },
  { title: "get by label", script: "kubectl get svc -A -l app=web --show-labels" },
  { title: "get by field", script: "kubectl get svc -A --field-selector spec.type=LoadBalancer -o name" },
  { title: "get by JSON path", script: "kubectl get svc web -n tour -o jsonpath='{.spec.ports[*].port}'" },
  { title: "get in pages", script: "kubectl get svc,cm -n tour --chunk-size=1 -o name" },
  {
    title: "get own columns",
    script: "kubectl get svc -n tour -o custom-columns=NAME:.metadata.name,TYPE:.spec.type,IP:.spec.clusterIP",
  },
  { title: "get what is not there", script: "kubectl get svc nobody -n tour", code: 1 },
  { title: "get a kind that is not there", script: "kubectl get unicorns", code: 1 },
  { title: "get where nothing is", script: "kubectl get svc -n kube-public" },
  {
    // It shows the object first and watches then: a change between the two it would not tell of.
    title: "get -w tells of a change",
    script: `: > seen; : > requests
      kubectl get svc web -n tour -w -v=6 > seen 2> requests & watcher=$!
      until grep -q watch=true requests; do sleep 0.1; done
      kubectl annotate svc web -n tour watched=yes
      until [ $(wc -l < seen) -ge 3 ]; do sleep 0.1; done
      kill $watcher; wait $watcher 2> /dev/null; cat seen`,
  },
  {
    title: "get -w of a collection tells of new and deleted objects",
    script: `: > seen
      kubectl get cm -n tour -w --output-watch-events -l tour=watch > seen & watcher=$!
      until kubectl create cm watched -n tour --dry-run=client -o yaml | kubectl label -f - --local tour=watch -o yaml |
        kubectl create -f -; do sleep 0.1; done
      until grep -q ADDED seen; do sleep 0.1; done
      kubectl delete cm watched -n tour
      until grep -q DELETED seen; do sleep 0.1; done
      kill $watcher; wait $watcher 2> /dev/null; cat seen`,
  },
];

const DESCRIBE: readonly Step[] = [
  { title: "describe a Service", script: "kubectl describe svc web -n tour" },
  { title: "describe a Node", script: "kubectl describe node tour-node" },
  { title: "describe a Pod", script: "kubectl describe pod web-0 -n tour" },
  // kubectl prints a ConfigMap's keys in the order of a Go map, which is another each time.
  { title: "describe a ConfigMap", script: "kubectl describe cm settings -n tour | sort" },
  { title: "describe a Secret", script: "kubectl describe secret password -n tour" },
  { title: "describe an EndpointSlice", script: "kubectl describe endpointslice web-abc12 -n tour" },
  { title: "describe a Lease", script: "kubectl describe lease leader -n tour" },
  { title: "describe a custom resource", script: "kubectl describe sight tower -n tour" },
  // Quotas and limit ranges are kinds that the embedded server does not have.
  { title: "describe a Namespace", script: "kubectl describe namespace tour | grep -v -e quota -e LimitRange -e '^$'" },
  { title: "events", script: "kubectl events -n tour" },
  { title: "events of one object", script: "kubectl events -n tour --for service/web" },
  { title: "events of one type", script: "kubectl events -n tour --types=Warning" },
];

const CHANGE: readonly Step[] = [
  { title: "edit", script: "EDITOR='sed -i s/colour:.blue/colour:\\ green/' kubectl edit cm settings -n tour" },
  { title: "edit a custom resource", script: "EDITOR='sed -i s/stars:.5/stars:\\ 3/' kubectl edit st tower -n tour" },
  { title: "edit without a change", script: "EDITOR=true kubectl edit cm settings -n tour" },
  {
    title: "see the edits",
    script: "kubectl get cm/settings st/tower -n tour -o jsonpath='{.items[*].data}{.items[*].spec}'",
  },
  {
    title: "patch, strategic",
    script: `kubectl patch svc web -n tour -p '{"spec":{"ports":[{"port":80,"targetPort":9090}]}}'`,
  },
  {
    title: "patch, merge",
    script: `kubectl patch svc web -n tour --type=merge -p '{"spec":{"externalTrafficPolicy":"Local"}}'`,
  },
  {
    title: "patch, JSON",
    script: `kubectl patch svc web -n tour --type=json -p '[{"op":"replace","path":"/spec/externalTrafficPolicy","value":"Cluster"}]'`,
  },
  { title: "patch nothing", script: `kubectl patch svc web -n tour -p '{}'` },
  {
    // The real server goes on to name server-side apply, which the embedded one does not have.
    title: "patch a custom resource, strategic: refused",
    script: `said=$(kubectl patch st tower -n tour -p '{"spec":{"stars":1}}' 2>&1); code=$?
      echo "\${said%, application/apply-patch*}"; exit $code`,
    code: 1,
  },
  {
    title: "patch a status",
    script: `kubectl patch svc web -n tour --subresource=status --type=merge -p '{"status":{"loadBalancer":{"ingress":[{"ip":"20.1.2.3"}]}}}'
      kubectl patch st tower -n tour --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Open","status":"True"}]}}'
      kubectl get svc/web st/tower -n tour`,
  },
  { title: "see the patches", script: "kubectl get svc web -n tour -o yaml" },
  {
    title: "label",
    script: "kubectl label svc web -n tour tier=front && kubectl get svc -n tour -l tier=front -o name",
  },
  { title: "label again: refused", script: "kubectl label svc web -n tour tier=back", code: 1 },
  {
    title: "label over",
    script: "kubectl label svc web -n tour tier=back --overwrite && kubectl label svc web -n tour tier-",
  },
  {
    title: "annotate",
    script: "kubectl annotate st tower -n tour note=tall && kubectl annotate st tower -n tour note-",
  },
  {
    title: "taint",
    script: `kubectl taint node tour-node node.kubernetes.io/out-of-service=nodeshutdown:NoExecute
      kubectl taint node tour-node extra=yes:NoSchedule
      kubectl get node tour-node -o jsonpath='{.spec.taints[*].key}'`,
  },
  { title: "taint again: refused", script: "kubectl taint node tour-node extra=no:NoSchedule", code: 1 },
  {
    title: "untaint",
    script: `kubectl taint node tour-node node.kubernetes.io/out-of-service- extra:NoSchedule-
      kubectl get node tour-node -o jsonpath='{.spec.taints[*].key}'`,
  },
  { title: "cordon", script: "kubectl cordon tour-node; kubectl cordon tour-node; kubectl get node tour-node" },
  { title: "uncordon", script: "kubectl uncordon tour-node; kubectl get node tour-node" },
  { title: "create a namespace", script: "kubectl create namespace tour-two" },
  { title: "create it again: refused", script: "kubectl create namespace tour-two", code: 1 },
  {
    title: "create a ConfigMap",
    script: "kubectl create cm made -n tour-two --from-literal=a=1 && kubectl get cm made -n tour-two -o yaml",
  },
  {
    title: "create a Secret",
    script:
      "kubectl create secret generic made -n tour-two --from-literal=a=1 && kubectl get secret made -n tour-two -o yaml",
  },
  {
    title: "replace",
    script: `kubectl get cm made -n tour-two -o yaml | sed 's/a: "1"/b: "2"/' | kubectl replace -f -
      kubectl get cm made -n tour-two -o jsonpath='{.data}'`,
  },
  {
    title: "replace with a stale version: refused",
    script: `kubectl get cm made -n tour-two -o yaml > stale.yaml
      kubectl annotate cm made -n tour-two newer=yes
      kubectl replace -f stale.yaml`,
    code: 1,
  },
];

const WAIT_AND_DELETE: readonly Step[] = [
  {
    title: "wait for a condition",
    script: `kubectl patch node tour-node --subresource=status -p '{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","message":"up"}]}}'
      kubectl wait --for=condition=Ready node/tour-node --timeout=60s`,
  },
  {
    title: "wait for a value",
    script: "kubectl wait --for=jsonpath='{.status.loadBalancer.ingress[0].ip}'=20.1.2.3 svc/web -n tour --timeout=60s",
  },
  {
    title: "wait for what comes later",
    script: `kubectl wait --for=jsonpath='{.data.ready}'=yes cm/settings -n tour --timeout=60s > waited & waiter=$!
      kubectl patch cm settings -n tour --type=merge -p '{"data":{"ready":"yes"}}'
      wait $waiter && cat waited`,
  },
  {
    title: "wait in vain",
    script: "kubectl wait --for=condition=Ready st/tower -n tour --timeout=5s", // its first look must fit in
    code: 1,
  },
  {
    title: "delete what a finalizer holds: it stays",
    script: `kubectl patch cm settings -n tour -p '{"metadata":{"finalizers":["tour.example.com/held"]}}'
      kubectl delete cm settings -n tour --wait=false
      kubectl get cm settings -n tour -o jsonpath='{.metadata.finalizers} {.metadata.deletionGracePeriodSeconds}'`,
  },
  {
    title: "delete --wait ends when the finalizer goes",
    script: `: > deleted
      kubectl delete cm settings -n tour --wait --timeout=60s > deleted & deleter=$!
      until grep -q deleted deleted; do sleep 0.1; done
      kubectl patch cm settings -n tour --type=merge -p '{"metadata":{"finalizers":null}}'
      wait $deleter && cat deleted
      kubectl get cm settings -n tour --ignore-not-found`,
  },
  {
    title: "wait --for=delete",
    script: `: > requests
      kubectl wait --for=delete lease/leader -n tour --timeout=60s -v=6 > waited 2> requests & waiter=$!
      until grep -q watch=true requests; do sleep 0.1; done
      kubectl delete lease leader -n tour
      wait $waiter && cat waited`,
  },
  {
    title: "delete a Pod at once",
    script:
      "kubectl delete pod web-0 -n tour --now --wait=false; kubectl delete pod web-0 -n tour --force --grace-period=0",
  },
  { title: "delete by label", script: "kubectl delete svc -n tour -l app=web" },
  { title: "delete all of a kind", script: "kubectl delete svc --all -n tour" },
  {
    title: "delete from the file, all but the namespace",
    script: "sed '1,/^---/d' $TOUR/everything.yaml | kubectl delete -f - --wait=false --ignore-not-found",
  },
  { title: "delete a namespace", script: "kubectl delete namespace tour-two --wait=false" },
  { title: "delete what is not there", script: "kubectl delete svc web -n tour", code: 1 },
  {
    // Its kind can still be found for a moment.
    title: "delete the definition, and its objects with it",
    script: `kubectl delete -f $TOUR/definition.yaml --timeout=60s
      while kubectl api-resources --api-group=tour.example.com 2>&1 | grep -q tour.example.com; do sleep 0.1; done
      kubectl get st -A`,
    code: 1,
  },
];

const MAP = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owned","namespace":"tour"},"data":{"a":"1"}}`;

const SERVER_SIDE: readonly Step[] = [
  { title: "apply on the server", script: `echo '${MAP}' > owned.json; kubectl apply --server-side -f owned.json` },
  { title: "apply on the server again", script: "kubectl apply --server-side -f owned.json" },
  {
    title: "apply on the server what another owns",
    script: `sed 's/"1"/"2"/' owned.json > other.json; kubectl apply --server-side --field-manager=other -f other.json`,
    code: 1,
  },
  {
    title: "a dry run of taking it over",
    script: `kubectl apply --server-side --field-manager=other --force-conflicts --dry-run=server -f other.json
      kubectl get cm owned -n tour -o jsonpath='{.data.a}'`,
  },
  {
    title: "take it over",
    script: `kubectl apply --server-side --field-manager=other --force-conflicts -f other.json
      kubectl get cm owned -n tour -o jsonpath='{.data.a} {.metadata.managedFields[*].manager}'`,
  },
  {
    title: "from apply on the client to apply on the server",
    script: `sed 's/owned/moved/' owned.json | kubectl apply -f -
      sed -e 's/owned/moved/' -e 's/"1"/"3"/' owned.json | kubectl apply --server-side -f -
      kubectl get cm moved -n tour -o jsonpath='{.data.a} {.metadata.managedFields[*].manager}'`,
  },
  { title: "delete what was applied on the server", script: "kubectl delete cm owned moved -n tour" },
];

export const TOUR: readonly Step[] = [
  ...APPLY,
  ...SERVER_SIDE,
  ...GET,
  ...DESCRIBE,
  ...CHANGE,
  ...WORKLOADS,
  ...ACCESS,
  ...WAIT_AND_DELETE,
];
