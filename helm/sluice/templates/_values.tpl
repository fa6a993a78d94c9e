{{/*
Takes in the values of the chart kueue, by the rows of files/kueue-values.yaml. From then on .Values holds
what is in force, and .Told what the notes say about it. Every template begins with this, because Helm
renders them in no order that it promises; the first call does it for all.
*/}}
{{- define "sluice.values" -}}
{{- if not (hasKey . "Told") -}}
{{- $rows := (.Files.Get "files/kueue-values.yaml" | fromYaml).rows -}}
{{- $own := .Files.Get "files/defaults.yaml" | fromYaml -}}
{{- $given := .Values | toYaml | fromYaml -}}
{{- $values := .Values | toYaml | fromYaml -}}
{{- $told := dict "unused" list "kept" list -}}
{{- range $rows -}}
{{- if not .shared -}}
{{- $values = omit $values (splitList "." .value | first) -}}
{{- end -}}
{{- end -}}
{{- range $rows -}}
{{- $at := dict "in" $values "path" .value -}}
{{- include "sluice.parent" $at -}}
{{- if hasKey . "here" -}}
{{- $_ := set $at.parent $at.key .here -}}
{{- end -}}
{{- end -}}
{{- if .Capabilities.APIVersions.Has "security.openshift.io/v1" -}}
{{- $_ := unset $values.controllerManager.manager.podSecurityContext "runAsUser" -}}
{{- end -}}
{{- include "sluice.configText" (dict "root" . "given" $given "own" $own "values" $values "told" $told) -}}
{{- include "sluice.oneReplica" (dict "given" $given "own" $own "values" $values) -}}
{{- $repository := dict "in" $given "path" "controllerManager.manager.image.repository" -}}
{{- include "sluice.at" $repository -}}
{{- $isKueues := regexMatch "(^|/)kueue$" (toString ($repository.value | default "kueue")) -}}
{{- range $rows -}}
{{- $at := dict "in" $given "path" .value -}}
{{- include "sluice.at" $at -}}
{{- $now := dict "in" $values "path" (.sets | default .value) -}}
{{- include "sluice.at" $now -}}
{{- $default := list -}}
{{- if hasKey . "default" -}}
{{- $default = list .default -}}
{{- end -}}
{{- if or (not $at.found) .shared (eq .value "managerConfig.controllerManagerConfigYaml") -}}
{{- else if and (not $now.found) (eq (toJson (list $at.value)) (toJson $default)) -}}
{{- else if and .image $isKueues -}}
{{- if $at.value -}}
{{- $_ := set $told "unused" (append $told.unused (printf "%s: it is an image of Kueue" .value)) -}}
{{- end -}}
{{- else if .unused -}}
{{- if and .but (kindIs "map" $at.value) -}}
{{- $_ := set $at "value" (omit $at.value .but) -}}
{{- end -}}
{{- if and $at.value (ne (toJson $at.value) (toJson .default)) -}}
{{- $_ := set $told "unused" (append $told.unused (printf "%s: %s" .value .unused)) -}}
{{- end -}}
{{- else -}}
{{- $into := dict "in" $values "path" (.sets | default .value) -}}
{{- include "sluice.parent" $into -}}
{{- $ownAt := dict "in" (dict "here" .here) "path" "here" -}}
{{- if .sets -}}
{{- $ownAt = dict "in" $own "path" .sets -}}
{{- end -}}
{{- include "sluice.at" $ownAt -}}
{{- $take := dict "into" $into.parent "key" $into.key "name" .value "ours" $into.path "own" (list $ownAt.value) "told" $told -}}
{{- $_ := set $take "default" $default -}}
{{- $_ := set $take "given" $at.value -}}
{{- if and (hasPrefix "config." $into.path) $values.managerConfig.text -}}
{{- $_ := set $take "ours" (printf "%s (config, or managerConfig.controllerManagerConfigYaml)" $into.path) -}}
{{- $_ := set $take "own" list -}}
{{- end -}}
{{- if and (eq (toString .as) "gates") $at.value -}}
{{- $gates := dict -}}
{{- range $at.value -}}
{{- $_ := set $gates .name .enabled -}}
{{- end -}}
{{- $_ := set $take "given" $gates -}}
{{- else if and (eq (toString .as) "level") (not (kindIs "invalid" $at.value)) -}}
{{- $_ := set $take "given" (include "sluice.level" $at.value) -}}
{{- $_ := set $take "default" (list (include "sluice.level" .default)) -}}
{{- end -}}
{{- if not (kindIs "invalid" $at.value) -}}
{{- include "sluice.take" $take -}}
{{- else if kindIs "map" $now.value -}}
{{- $_ := set $into.parent $into.key dict -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- include "sluice.group" (dict "given" $given "values" $values) -}}
{{- $_ := set . "Values" $values -}}
{{- $_ := set . "Told" $told -}}
{{- end -}}
{{- end -}}

{{/*
Without an election there may be one replica only, which is the default of the other chart: its values ask for
one whether they say so or not.
*/}}
{{- define "sluice.oneReplica" -}}
{{- $replicas := dict "in" .given "path" "controllerManager.replicas" -}}
{{- include "sluice.at" $replicas -}}
{{- $isOwn := eq (toJson .values.replicas) (toJson .own.replicas) -}}
{{- if and $isOwn (or $replicas.found .values.managerConfig.text) (include "sluice.leadsAlone" (dict "Values" .values)) -}}
{{- $_ := set .own "replicas" 1 -}}
{{- $_ := set .values "replicas" 1 -}}
{{- end -}}
{{- end -}}

{{/*
Without fsGroup the operator can't read the Secrets that are mounted for it. Where the cluster chooses the
user, it chooses that group, too, and refuses others.
*/}}
{{- define "sluice.group" -}}
{{- $context := .values.controllerManager.manager.podSecurityContext -}}
{{- $group := dict "in" .given "path" "controllerManager.manager.podSecurityContext.fsGroup" -}}
{{- include "sluice.at" $group -}}
{{- if and (not $group.found) (not (hasKey $context "runAsUser")) -}}
{{- $_ := unset $context "fsGroup" -}}
{{- end -}}
{{- end -}}

{{/* Looks for a path in a map: sets found, and value if it is there. */}}
{{- define "sluice.at" -}}
{{- $value := .in -}}
{{- $found := true -}}
{{- range splitList "." .path -}}
{{- if and $found (kindIs "map" $value) (hasKey $value .) -}}
{{- $value = index $value . -}}
{{- else -}}
{{- $found = false -}}
{{- end -}}
{{- end -}}
{{- $_ := set . "found" $found -}}
{{- if $found -}}
{{- $_ := set . "value" $value -}}
{{- end -}}
{{- end -}}

{{/* Makes the maps above a path: sets parent, the last one, and key, the name in it. */}}
{{- define "sluice.parent" -}}
{{- $parent := .in -}}
{{- $keys := splitList "." .path -}}
{{- range initial $keys -}}
{{- if not (kindIs "map" (index $parent .)) -}}
{{- $_ := set $parent . dict -}}
{{- end -}}
{{- $parent = index $parent . -}}
{{- end -}}
{{- $_ := set . "parent" $parent -}}
{{- $_ := set . "key" (last $keys) -}}
{{- end -}}

{{/*
Takes one value in, field by field: given, into a map under a key. default and own are lists of the other
chart's default and of ours, empty if there is none. It fails where ours was given, too, and differs.
*/}}
{{- define "sluice.take" -}}
{{- $call := . -}}
{{- $isNew := and (kindIs "map" .given) (not (hasKey .into .key)) (kindIs "map" (first .default)) -}}
{{- if $isNew -}}
{{- $_ := set .into .key dict -}}
{{- end -}}
{{- $present := index .into .key -}}
{{- if and (kindIs "map" .given) (kindIs "map" $present) -}}
{{- range $key, $value := .given -}}
{{- $field := dict "given" $value "into" $present "key" $key "told" $call.told -}}
{{- range $what := list "default" "own" -}}
{{- $map := index $call $what | first -}}
{{- $has := and (kindIs "map" $map) (hasKey ($map | default dict) $key) -}}
{{- $_ := set $field $what ($has | ternary (list (index ($map | default dict) $key)) list) -}}
{{- end -}}
{{- $_ := set $field "name" (printf "%s.%s" $call.name $key) -}}
{{- $_ := set $field "ours" (printf "%s.%s" $call.ours $key) -}}
{{- include "sluice.take" $field -}}
{{- end -}}
{{- if and $isNew (not $present) -}}
{{- $_ := unset .into .key -}}
{{- end -}}
{{- else if eq (toJson (list .given)) (toJson .default) -}}
{{- if and (hasKey .into .key) (ne (toJson $present) (toJson .given)) (or $present .given) -}}
{{- $_ := set .told "kept" (append .told.kept (printf "%s: %s here" .name (toJson $present))) -}}
{{- end -}}
{{- else if eq (toJson .given) (toJson $present) -}}
{{- else if and (hasKey .into .key) (ne (toJson (list $present)) (toJson .own)) -}}
{{- fail (printf "values %s (%s) and %s (%s) are both given, and differ: leave one of them out" .ours (toJson $present) .name (toJson .given)) -}}
{{- else if kindIs "invalid" .given -}}
{{- $_ := unset .into .key -}}
{{- else -}}
{{- $_ := set .into .key .given -}}
{{- end -}}
{{- end -}}

{{/*
The configuration file that was given as a text, with what config says besides. The fields by which the
operator finds its own objects are those of the chart.
*/}}
{{- define "sluice.configText" -}}
{{- $call := . -}}
{{- $values := .values -}}
{{- $at := dict "in" .given "path" "managerConfig.controllerManagerConfigYaml" -}}
{{- include "sluice.at" $at -}}
{{- $_ := set $values.managerConfig "apiVersion" "config.kueue.x-k8s.io/v1beta2" -}}
{{- with $at.value -}}
{{- $text := fromYaml . -}}
{{- with $text.Error -}}
{{- fail (printf "managerConfig.controllerManagerConfigYaml can't be read: %s" .) -}}
{{- end -}}
{{- with $text.apiVersion -}}
{{- $_ := set $values.managerConfig "apiVersion" . -}}
{{- end -}}
{{- $checked := dict "value" $text "apiVersion" $values.managerConfig.apiVersion "root" $call.root -}}
{{- include "sluice.checked" (merge $checked (dict "name" "managerConfig.controllerManagerConfigYaml")) -}}
{{- $names := dict "namespace" $call.root.Release.Namespace "leaderElection.resourceNamespace" $call.root.Release.Namespace -}}
{{- $_ := set $names "leaderElection.resourceName" "c1f6bfd2.kueue.x-k8s.io" -}}
{{- $_ := set $names "internalCertManagement.webhookServiceName" "kueue-webhook-service" -}}
{{- $_ := set $names "internalCertManagement.webhookSecretName" "kueue-webhook-server-cert" -}}
{{- range $path, $ours := $names -}}
{{- $name := dict "in" $text "path" $path -}}
{{- include "sluice.at" $name -}}
{{- if $name.found -}}
{{- include "sluice.parent" $name -}}
{{- $_ := unset $name.parent $name.key -}}
{{- if not (has $name.value (list "" $ours nil)) -}}
{{- $_ := set $call.told "unused" (append $call.told.unused (printf "managerConfig.controllerManagerConfigYaml, %s: it is %s here" $path $ours)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $key, $value := $text -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $text $key -}}
{{- end -}}
{{- end -}}
{{- $_ := set $values.managerConfig "text" true -}}
{{- $_ := set $values "config" (omit $text "apiVersion" "kind") -}}
{{- $take := dict "given" $call.given.config "into" $values "key" "config" "default" (list $call.own.config) "own" list -}}
{{- $_ := set $take "ours" "managerConfig.controllerManagerConfigYaml" -}}
{{- $_ := set $take "name" "config" -}}
{{- $_ := set $take "told" (dict "kept" list) -}}
{{- include "sluice.take" $take -}}
{{- end -}}
{{- end -}}

{{/* Refuses a version of the configuration, and fields in it, that the operator doesn't know: it wouldn't start with them. */}}
{{- define "sluice.checked" -}}
{{- $schema := .root.Files.Get (printf "files/configuration-%s.json" (toString .apiVersion | trimPrefix "config.kueue.x-k8s.io/")) -}}
{{- if or (not $schema) (not (hasPrefix "config.kueue.x-k8s.io/" (toString .apiVersion))) -}}
{{- fail (printf "%s: apiVersion: %v: allowed: config.kueue.x-k8s.io/v1beta2, config.kueue.x-k8s.io/v1beta1" .name .apiVersion) -}}
{{- end -}}
{{- include "sluice.known" (dict "value" .value "schema" (fromJson $schema) "path" "" "name" .name "apiVersion" .apiVersion) -}}
{{- end -}}

{{- define "sluice.known" -}}
{{- $call := . -}}
{{- if and (kindIs "map" .value) .schema.properties -}}
{{- range $key, $value := .value -}}
{{- if not (hasKey $call.schema.properties $key) -}}
{{- fail (printf "%s: %s%s: unknown field of %s; known here: %s" $call.name $call.path $key $call.apiVersion (keys $call.schema.properties | sortAlpha | join ", ")) -}}
{{- end -}}
{{- include "sluice.known" (dict "value" $value "schema" (index $call.schema.properties $key) "path" (printf "%s%s." $call.path $key) "name" $call.name "apiVersion" $call.apiVersion) -}}
{{- end -}}
{{- else if and (kindIs "slice" .value) .schema.items -}}
{{- range .value -}}
{{- include "sluice.known" (dict "value" . "schema" $call.schema.items "path" (printf "%s[]." (trimSuffix "." $call.path)) "name" $call.name "apiVersion" $call.apiVersion) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The word for a verbosity of the other operator. */}}
{{- define "sluice.level" -}}
{{- $text := toString . -}}
{{- if regexMatch "^[0-9]+$" $text -}}
{{- $number := int $text -}}
{{- le $number 2 | ternary "info" (le $number 4 | ternary "debug" "trace") -}}
{{- else if eq $text "panic" -}}
error
{{- else if has $text (list "debug" "info" "warn" "error") -}}
{{- $text -}}
{{- else -}}
{{- fail (printf "controllerManager.manager.logLevel: %q is not a whole number, debug, info, warn, error or panic" $text) -}}
{{- end -}}
{{- end -}}
