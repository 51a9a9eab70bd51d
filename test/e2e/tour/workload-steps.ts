/** Steps of the tour with workloads, users and roles, in namespace `tour`. No controllers run: no pods follow. */
import type { Step } from "./steps.ts";

const ROBOT = "--as=system:serviceaccount:tour:robot";

export const WORKLOADS: readonly Step[] = [
  {
    title: "create a Deployment",
    script: "kubectl create deployment shop -n tour --image=shop:1 --replicas=2 --port=80",
  },
  { title: "get it", script: "kubectl get deploy shop -n tour && kubectl get deploy shop -n tour -o wide" },
  { title: "get it as YAML", script: "kubectl get deploy shop -n tour -o yaml --show-managed-fields" },
  { title: "describe it", script: "kubectl describe deploy shop -n tour" },
  {
    title: "scale it",
    script: `kubectl scale deploy shop -n tour --replicas=3
      kubectl get deploy shop -n tour -o jsonpath='{.spec.replicas} {.metadata.generation}'`,
  },
  {
    title: "scale from another number: refused",
    script: "kubectl scale deploy shop -n tour --current-replicas=9 --replicas=1",
    code: 1,
  },
  {
    title: "set image, environment and resources",
    script: `kubectl set image deploy/shop -n tour shop=shop:2
      kubectl set env deploy/shop -n tour COLOUR=red
      kubectl set resources deploy shop -n tour --requests=cpu=100m,memory=64Mi
      kubectl get deploy shop -n tour -o jsonpath='{.spec.template.spec.containers}'`,
  },
  {
    title: "rollout pause, resume and restart",
    script: `kubectl rollout pause deploy/shop -n tour; kubectl rollout resume deploy/shop -n tour
      kubectl rollout restart deploy/shop -n tour; kubectl get deploy shop -n tour -o jsonpath='{.metadata.generation}'`,
  },
  { title: "expose it", script: "kubectl expose deploy shop -n tour --name=shop && kubectl delete svc shop -n tour" },
  {
    title: "a budget",
    script: `kubectl create pdb shop -n tour --selector=app=shop --min-available=1
      kubectl get pdb -n tour && kubectl get pdb shop -n tour -o yaml`,
  },
  {
    title: "a priority class",
    script: `kubectl create priorityclass shop --value=7 --description=shop
      kubectl get pc shop system-node-critical && kubectl delete pc shop`,
  },
  {
    title: "apply a List",
    script: `echo '{"apiVersion":"v1","kind":"List","items":[
      {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"listed","namespace":"tour"}},
      {"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"listed","namespace":"tour"}}]}' > list.json
      kubectl apply -f list.json && kubectl delete -f list.json`,
  },
  {
    title: "apply a List with an unknown field: refused",
    script: `echo '{"apiVersion":"v1","kind":"List","items":[
      {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"listed","namespace":"tour"},"dataa":{}}]}' | kubectl apply -f -`,
    code: 1,
  },
];

export const ACCESS: readonly Step[] = [
  {
    title: "a service account and its roles",
    script: `kubectl create sa robot -n tour
      kubectl create role robot -n tour --verb=get,list --resource=configmaps,deployments.apps
      kubectl create rolebinding robot -n tour --role=robot --serviceaccount=tour:robot
      kubectl create clusterrole tour-robot --verb=get --non-resource-url=/metrics
      kubectl create clusterrolebinding tour-robot --clusterrole=tour-robot --user=ada --group=owners`,
  },
  {
    title: "get them",
    script: `kubectl get sa robot -n tour; kubectl get role,rolebinding -n tour -o wide
      kubectl get clusterrolebinding tour-robot -o wide; kubectl get clusterrole tour-robot -o yaml`,
  },
  {
    title: "describe a role",
    script: "kubectl describe role robot -n tour; kubectl describe rolebinding robot -n tour",
  },
  {
    title: "what the account may do",
    script: `kubectl auth can-i list configmaps -n tour ${ROBOT}; kubectl auth can-i get deploy/shop -n tour ${ROBOT}
      kubectl auth can-i delete configmaps -n tour ${ROBOT}; kubectl auth can-i list configmaps -n default ${ROBOT}
      kubectl auth can-i get /metrics --as=ada; kubectl auth can-i get /logs --as=ada`,
    code: 1,
  },
  { title: "it does it", script: `kubectl get deploy -n tour ${ROBOT} -o name` },
  { title: "it may not do more", script: `kubectl get secrets -n tour ${ROBOT}`, code: 1 },
  { title: "nor delete", script: `kubectl delete deploy shop -n tour ${ROBOT}`, code: 1 },
  { title: "a token has three parts", script: "kubectl create token robot -n tour | tr . '\\n' | grep -c ." },
  { title: "a token of nobody", script: "kubectl create token nobody -n tour", code: 1 },
  {
    title: "delete workloads and roles",
    script: `kubectl delete deploy,pdb -n tour --all
      kubectl delete role/robot rolebinding/robot sa/robot -n tour; kubectl delete clusterrole,clusterrolebinding tour-robot`,
  },
];
