{{/* What selects the operator's pods. */}}
{{- define "sluice.selector" -}}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/name: {{ include "sluice.name" . | quote }}
control-plane: controller-manager
{{- end -}}

{{/* The name by which pods and Services of this API are selected everywhere. */}}
{{- define "sluice.name" -}}
{{ .Values.nameOverride | default "kueue" }}
{{- end -}}

{{- define "sluice.chart" -}}
{{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The labels of an object of the controller; those of other components say that themselves. */}}
{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/component: controller
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: sluice
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ include "sluice.chart" . }}
{{- end -}}

{{/* The namespaces whose jobs the API server asks about: as the configuration says, if it does. */}}
{{- define "sluice.managedNamespaces" -}}
{{- with .Values.config.managedJobsNamespaceSelector -}}
{{ toYaml . }}
{{- else -}}
matchExpressions:
- key: kubernetes.io/metadata.name
  operator: NotIn
  values:
  - kube-system
  - {{ .Release.Namespace }}
{{- end -}}
{{- end -}}

{{/* The directory of the certificate that the servers are given. */}}
{{- define "sluice.certificateDirectory" -}}
{{ dig "webhook" "certDir" "" .Values.config | default "/tmp/k8s-webhook-server/serving-certs" }}
{{- end -}}

{{/* Says yes if nobody makes the certificate here, and volumeMounts don't have its directory either. */}}
{{- define "sluice.lacksCertificate" -}}
{{- $lacks := eq (dig "internalCertManagement" "enable" true .Values.config | toString) "false" -}}
{{- $directory := printf "%s/" (include "sluice.certificateDirectory" . | trimSuffix "/") -}}
{{- range .Values.volumeMounts -}}
{{- if hasPrefix (printf "%s/" (trimSuffix "/" .mountPath)) $directory -}}
{{- $lacks = false -}}
{{- end -}}
{{- end -}}
{{- if $lacks -}}
yes
{{- end -}}
{{- end -}}

{{/*
The Secret with the certificate of the servers; empty if the operator makes its own. The chart kueue mounts one
whoever makes it, so that its values name none.
*/}}
{{- define "sluice.certificateSecret" -}}
{{- $secret := .Values.certificates.secretName -}}
{{- $isUsual := and .Values.managerConfig.text (include "sluice.lacksCertificate" .) -}}
{{- if or .Values.certificates.certManager.enabled $isUsual -}}
{{- $secret = $secret | default "kueue-webhook-server-cert" -}}
{{- end -}}
{{ $secret }}
{{- end -}}

{{/* The port of an address to listen on; empty where it says that there is none. */}}
{{- define "sluice.port" -}}
{{- with toString . | splitList ":" | last | int -}}
{{ . }}
{{- end -}}
{{- end -}}

{{/* Says yes if the operator leads without an election. */}}
{{- define "sluice.leadsAlone" -}}
{{- if eq (dig "leaderElection" "leaderElect" true .Values.config | toString) "false" -}}
yes
{{- end -}}
{{- end -}}

{{/* Annotations of whatever has a caBundle. */}}
{{- define "sluice.caAnnotations" -}}
{{- $own := dict -}}
{{- if .Values.certificates.certManager.enabled -}}
{{- $own = dict "cert-manager.io/inject-ca-from" (printf "%s/kueue-serving-cert" .Release.Namespace) -}}
{{- end -}}
{{- with merge (dict) .Values.certificates.annotations $own -}}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{/* The configuration file. */}}
{{- define "sluice.config" -}}
apiVersion: {{ .Values.managerConfig.apiVersion }}
kind: Configuration
{{- $config := .Values.config -}}
{{- if .Values.certificates.certManager.enabled -}}
{{- $config = mergeOverwrite (deepCopy .Values.config) (dict "internalCertManagement" (dict "enable" false)) -}}
{{- end -}}
{{- if .Values.managerConfig.text -}}
{{- $name := "config, with managerConfig.controllerManagerConfigYaml and the values of this chart that set its fields" -}}
{{- include "sluice.checked" (dict "value" $config "apiVersion" .Values.managerConfig.apiVersion "root" . "name" $name) -}}
{{- end }}
{{ toYaml $config }}
{{- end -}}

{{/* Refuses what would stop a cluster, before anything is written: an object that can't be taken over. */}}
{{- define "sluice.guards" -}}
{{- $ns := .Release.Namespace -}}
{{- if include "sluice.leadsAlone" . -}}
{{- if gt (int .Values.replicas) 1 -}}
{{- fail (printf "config.leaderElection.leaderElect is false and replicas is %d: without an election each replica would admit jobs by itself; set replicas to 1" (int .Values.replicas)) -}}
{{- end -}}
{{- $strategy := .Values.controllerManager.strategy | default dict -}}
{{- if and $strategy (ne (dig "type" "" $strategy) "Recreate") -}}
{{- fail "config.leaderElection.leaderElect is false: controllerManager.strategy.type has to be Recreate, or two operators would admit jobs during a rollout" -}}
{{- end -}}
{{- end -}}
{{- $found := lookup "apps/v1" "Deployment" $ns "kueue-controller-manager" -}}
{{- if $found -}}
{{- $ours := eq (dig "metadata" "labels" "app.kubernetes.io/part-of" "" $found) "sluice" -}}
{{- $selector := dig "spec" "selector" "matchLabels" dict $found -}}
{{- if not (and $ours (eq (toJson $selector) (include "sluice.selector" . | fromYaml | toJson))) -}}
{{- fail (printf "Deployment kueue-controller-manager in namespace %s is not of this release, and its selector can't be changed; nothing was written. Stop and delete it first: kubectl -n %s delete deployment kueue-controller-manager --cascade=foreground (docs/switching.md)" $ns $ns) -}}
{{- end -}}
{{- end -}}
{{- $secret := dig "internalCertManagement" "webhookSecretName" "kueue-webhook-server-cert" .Values.config -}}
{{- $internal := and (not .Values.certificates.certManager.enabled) (dig "internalCertManagement" "enable" true .Values.config) -}}
{{- if and $internal (.Capabilities.APIVersions.Has "cert-manager.io/v1/Certificate") -}}
{{- range (lookup "cert-manager.io/v1" "Certificate" $ns "").items -}}
{{- if eq .spec.secretName $secret -}}
{{- fail (printf "Certificate %s of cert-manager writes Secret %s in namespace %s, which this release would write, too; nothing was written. Either let cert-manager go on, with --set certificates.certManager.enabled=true, or take it over: kubectl -n %s delete certificate %s && kubectl -n %s delete secret %s (docs/switching.md)" .metadata.name $secret $ns $ns .metadata.name $ns $secret) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $stored := lookup "v1" "Secret" $ns $secret | default dict -}}
{{- $data := dig "data" dict $stored | default dict -}}
{{- $isOwn := eq (dig "metadata" "labels" "app.kubernetes.io/part-of" "" $stored) "sluice" -}}
{{- if and $internal (get $data "tls.crt") (not (hasKey $data "ca.key")) (not $isOwn) -}}
{{- fail (printf "Secret %s in namespace %s has no ca.key, so whoever wrote it keeps the key of its authority, and this release would write it, too; nothing was written. Either let that go on, with --set certificates.secretName=%s,config.internalCertManagement.enable=false, or take it over: kubectl -n %s delete secret %s (docs/switching.md)" $secret $ns $secret $ns $secret) -}}
{{- end -}}
{{- end -}}

{{/* Webhook registrations of other operators of this API, one command in each line. */}}
{{- define "sluice.leftRegistrations" -}}
{{- range $kind := list "MutatingWebhookConfiguration" "ValidatingWebhookConfiguration" -}}
{{- range (lookup "admissionregistration.k8s.io/v1" $kind "" "").items -}}
{{- $asks := false -}}
{{- range .webhooks -}}
{{- range .rules -}}
{{- if has "kueue.x-k8s.io" .apiGroups -}}
{{- $asks = true -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $asks (not (has .metadata.name (list "kueue-mutating-webhook-configuration" "kueue-validating-webhook-configuration"))) }}
  kubectl delete {{ $kind | lower }} {{ .metadata.name }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
