{{- define "name" -}}
{{ .Values.nameOverride | default "kueue" }}
{{- end -}}

{{- define "fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride }}
{{- else if contains (include "name" .) .Release.Name -}}
{{ .Release.Name }}
{{- else -}}
{{ .Release.Name }}-{{ include "name" . }}
{{- end -}}
{{- end -}}

{{- define "selector" -}}
app.kubernetes.io/name: {{ include "name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
control-plane: controller-manager
{{- end -}}

{{- define "labels" -}}
helm.sh/chart: kueue-0.19.2
{{ include "selector" . }}
app.kubernetes.io/version: v0.19.2
app.kubernetes.io/managed-by: Helm
{{- end -}}
