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

{{/* The configuration file. */}}
{{- define "sluice.config" -}}
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
{{ toYaml .Values.config }}
{{- end -}}
