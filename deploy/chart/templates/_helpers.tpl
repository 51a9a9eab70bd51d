{{/* Of the Deployment, its ServiceAccount and the label that selects its pods: one release runs the controller or the shadow. */}}
{{- define "azlb.name" -}}
{{ ternary "azlb-shadow" "azlb-controller" .Values.shadow.enabled }}
{{- end }}

{{- define "azlb.labels" -}}
app: {{ include "azlb.name" . }}
app.kubernetes.io/name: azlb
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "azlb.selector" -}}
app: {{ include "azlb.name" . }}
{{- end }}

{{/* Arguments: image, version. */}}
{{- define "azlb.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ .image.tag | default .version }}
{{- end -}}
{{- end }}

{{/* Name of the Secret with the cloud config; empty where it is a file. */}}
{{- define "azlb.configSecret" -}}
{{- if .Values.cloudConfig.inline -}}
azlb-cloud-config
{{- else -}}
{{ .Values.cloudConfig.secret.name | default "" }}
{{- end -}}
{{- end }}

{{/* What no schema can say. */}}
{{- define "azlb.check" -}}
{{- if ne .Release.Namespace "kube-system" -}}
{{- fail (printf "the namespace is %q: install with --namespace kube-system, where the Lease, the resource lock and the member lists are" .Release.Namespace) -}}
{{- end -}}
{{- if and .Values.cloudConfig.inline .Values.cloudConfig.secret.name -}}
{{- fail "cloudConfig has both inline and secret: give one of them" -}}
{{- end -}}
{{- if and .Values.shadow.enabled .Values.api.enabled -}}
{{- fail "shadow.enabled and api.enabled: a shadow has no API, leave api.enabled out until you take over" -}}
{{- end -}}
{{- with .Values.lbcf.readinessGateWebhook -}}
{{- if and .enabled $.Values.lbcf.readinessGate -}}
{{- fail "lbcf.readinessGate and lbcf.readinessGateWebhook.enabled do the same: give one of them" -}}
{{- end -}}
{{- if and .enabled (not .tlsSecret) -}}
{{- fail "lbcf.readinessGateWebhook.tlsSecret is missing: give the name of a Secret of type kubernetes.io/tls for azlb-readiness-gate.kube-system.svc" -}}
{{- end -}}
{{- if and .enabled (not .caBundle) (not .annotations) -}}
{{- fail "lbcf.readinessGateWebhook has neither caBundle nor annotations: the API server would trust no certificate" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.workloadIdentity.enabled (not .Values.workloadIdentity.clientId) -}}
{{- fail "workloadIdentity.clientId is missing: give the client id of the managed identity or application" -}}
{{- end -}}
{{- end }}

{{/*
The objects of a manifest of deploy/, which files/ has a copy of, with the release's labels. The controller's ServiceAccount is
left out (service-account.yaml has it), the right to read a Secret is for the one that holds the cloud config, a DaemonSet
gets the agent's image and arguments, and a webhook the authority of its certificate.
Arguments: root, file; keep: objects stay when the release is uninstalled; apiVersion: instead of the manifest's own.
*/}}
{{- define "azlb.manifest" -}}
{{- $root := .root -}}
{{- $labels := include "azlb.labels" $root | fromYaml -}}
{{- $secret := include "azlb.configSecret" $root -}}
{{- range $text := splitList "\n---\n" ($root.Files.Get .file) -}}
{{- $object := fromYaml $text -}}
{{- if and $object.kind (ne (printf "%s/%s" $object.kind $object.metadata.name) "ServiceAccount/azlb-controller") -}}
{{- $_ := set $object.metadata "labels" (merge (dict) ($object.metadata.labels | default dict) $labels) -}}
{{- if $.apiVersion -}}
{{- $_ := set $object "apiVersion" $.apiVersion -}}
{{- end -}}
{{- if $.keep -}}
{{- $annotations := merge (dict "helm.sh/resource-policy" "keep") ($object.metadata.annotations | default dict) -}}
{{- $_ := set $object.metadata "annotations" $annotations -}}
{{- end -}}
{{- range $rule := $object.rules -}}
{{- if and $secret (has "secrets" ($rule.resources | default list)) -}}
{{- $_ := set $rule "resourceNames" (list $secret) -}}
{{- end -}}
{{- end -}}
{{- if eq $object.kind "DaemonSet" -}}
{{- include "azlb.setAgent" (dict "root" $root "object" $object) -}}
{{- end }}
{{- if eq $object.kind "MutatingWebhookConfiguration" -}}
{{- include "azlb.setGateWebhook" (dict "root" $root "object" $object) -}}
{{- end }}
---
{{ toYaml $object }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Puts the agent's values into its DaemonSet. Arguments: root, object. */}}
{{- define "azlb.setAgent" -}}
{{- $agent := .root.Values.agent -}}
{{- $pod := .object.spec.template.spec -}}
{{- $container := first $pod.containers -}}
{{- $_ := set $container "image" (include "azlb.image" (dict "image" $agent.image "version" .root.Chart.AppVersion)) -}}
{{- $_ := set $container "imagePullPolicy" $agent.image.pullPolicy -}}
{{- $flags := ternary (list "--write-taints") list $agent.writeTaints -}}
{{- if $agent.approveAfter -}}
{{- $flags = append $flags (printf "--approve-after=%s" $agent.approveAfter) -}}
{{- end -}}
{{- $_ := set $container "args" (concat (list "agent") $flags $agent.extraArgs) -}}
{{- $_ := set $container "resources" $agent.resources -}}
{{- with .root.Values.imagePullSecrets -}}
{{- $_ := set $pod "imagePullSecrets" . -}}
{{- end -}}
{{- end }}

{{/* Puts the values of the readiness gate's webhook into its configuration. Arguments: root, object. */}}
{{- define "azlb.setGateWebhook" -}}
{{- $webhook := .root.Values.lbcf.readinessGateWebhook -}}
{{- with $webhook.annotations -}}
{{- $_ := set $.object.metadata "annotations" . -}}
{{- end -}}
{{- with $webhook.caBundle -}}
{{- $_ := set (first $.object.webhooks).clientConfig "caBundle" . -}}
{{- end -}}
{{- end }}

{{/*
The version of MutatingAdmissionPolicy that the cluster serves: v1 from Kubernetes 1.36 on, v1beta1 on 1.34 and 1.35 where the API
server has it switched on.
*/}}
{{- define "azlb.mutatingPolicyVersion" -}}
{{- $served := .Capabilities.APIVersions -}}
{{- $group := "admissionregistration.k8s.io" -}}
{{- if $served.Has (printf "%s/v1/MutatingAdmissionPolicy" $group) -}}
{{- printf "%s/v1" $group -}}
{{- else if $served.Has (printf "%s/v1beta1/MutatingAdmissionPolicy" $group) -}}
{{- printf "%s/v1beta1" $group -}}
{{- else -}}
{{- fail "lbcf.readinessGate=true needs an API server with MutatingAdmissionPolicy (Kubernetes 1.36, or 1.34 with its feature gate and v1beta1 served): use lbcf.readinessGateWebhook, or put the readiness gate into the pod templates, see docs/lbcf.md" -}}
{{- end -}}
{{- end }}
