{{/* What selects the operator's pods. */}}
{{- define "sluice.selector" -}}
control-plane: controller-manager
app.kubernetes.io/name: sluice
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

{{/* The Secret with the certificate of the servers; empty if the operator makes its own. */}}
{{- define "sluice.certificateSecret" -}}
{{- if .Values.certificates.certManager.enabled -}}
{{ .Values.certificates.secretName | default "sluice-serving" }}
{{- else -}}
{{ .Values.certificates.secretName }}
{{- end -}}
{{- end -}}

{{/* Annotations of whatever has a caBundle. */}}
{{- define "sluice.caAnnotations" -}}
{{- $own := dict -}}
{{- if .Values.certificates.certManager.enabled -}}
{{- $own = dict "cert-manager.io/inject-ca-from" (printf "%s/sluice-serving" .Release.Namespace) -}}
{{- end -}}
{{- with merge (dict) .Values.certificates.annotations $own -}}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{/* The configuration file. */}}
{{- define "sluice.config" -}}
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
{{- $config := .Values.config -}}
{{- if .Values.certificates.certManager.enabled -}}
{{- $config = mergeOverwrite (deepCopy .Values.config) (dict "internalCertManagement" (dict "enable" false)) -}}
{{- end }}
{{ toYaml $config }}
{{- end -}}
