{{/* The name of all objects. */}}
{{- define "order-timeout.name" -}}
{{- $name := .Values.fullnameOverride | default .Release.Name }}
{{- if not (or .Values.fullnameOverride (contains .Chart.Name .Release.Name)) }}{{ $name = printf "%s-%s" .Release.Name .Chart.Name }}{{ end }}
{{- $name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "order-timeout.selector" -}}
app.kubernetes.io/name: order-timeout
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "order-timeout.labels" -}}
{{ include "order-timeout.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* A file about monitoring that links to the team's runbooks. Takes the chart's context and the file's text. */}}
{{- define "order-timeout.withRunbooks" -}}
{{- regexReplaceAllLiteral `https://[^"\s]+/deploy/runbooks/` (index . 1) (index . 0).Values.prometheusRule.runbookBaseUrl }}
{{- end }}

{{- define "order-timeout.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* The properties of a configuration by their full names, as JSON. Takes a prefix and the configuration. */}}
{{- define "order-timeout.flat" -}}
{{- $flat := dict }}
{{- $prefix := index . 0 }}
{{- range $key, $value := index . 1 }}
{{- $name := ternary $key (printf "%s%s%s" $prefix (ternary "" "." (hasPrefix "[" $key)) $key) (empty $prefix) }}
{{- if kindIs "map" $value }}
{{- $flat = mergeOverwrite $flat (include "order-timeout.flat" (list $name $value) | fromJson) }}
{{- else }}
{{- $_ := set $flat $name $value }}
{{- end }}
{{- end }}
{{- toJson $flat }}
{{- end }}

{{/* What config says about a property, written in any style; else a default. Takes the chart's context, the property and the default. */}}
{{- define "order-timeout.configured" -}}
{{- index (include "order-timeout.flat" (list "" (index . 0).Values.config) | fromJson) (index . 1) | default (index . 2) }}
{{- end }}

{{/* The name by which metrics tell releases apart. */}}
{{- define "order-timeout.application" -}}
{{- include "order-timeout.configured" (list . "spring.application.name" (include "order-timeout.name" .)) }}
{{- end }}

{{- define "order-timeout.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "order-timeout.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{/* The properties of the service that follow from the values, and those in config. */}}
{{- define "order-timeout.properties" -}}
{{- $url := required "postgres.url is required, for example jdbc:postgresql://postgres:5432/ordertimeout" .Values.postgres.url }}
{{- $servers := required "kafka.bootstrapServers is required, for example kafka-bootstrap:9092" .Values.kafka.bootstrapServers }}
{{- $spring := dict "application" (dict "name" (include "order-timeout.application" .)) "datasource" (dict "url" $url "username" .Values.postgres.username) }}
{{- if .Values.postgres.tls.caSecret }}
{{- $tls := dict "sslmode" "verify-full" "sslrootcert" (printf "/secrets/postgres-ca/%s" .Values.postgres.tls.caKey) }}
{{- $_ := set $spring.datasource "hikari" (dict "data-source-properties" $tls) }}
{{- end }}
{{- with .Values.kafka }}
{{- $clients := dict }}
{{- if or .tls.enabled .sasl.existingSecret }}
{{- $_ := set $clients "security.protocol" (ternary (ternary "SASL_SSL" "SSL" (ne .sasl.existingSecret "")) "SASL_PLAINTEXT" .tls.enabled) }}
{{- end }}
{{- if .sasl.existingSecret }}
{{- $_ := set $clients "sasl.mechanism" .sasl.mechanism }}
{{- end }}
{{- if .tls.caSecret }}
{{- $_ := set $clients "ssl.truststore.type" "PEM" }}
{{- $_ := set $clients "ssl.truststore.location" (printf "/secrets/kafka-ca/%s" .tls.caKey) }}
{{- end }}
{{- if .tls.clientSecret }}
{{- $_ := set $clients "ssl.keystore.type" "PKCS12" }}
{{- $_ := set $clients "ssl.keystore.location" (printf "/secrets/kafka-client/%s" .tls.clientKey) }}
{{- end }}
{{- $clients = mergeOverwrite $clients (deepCopy .properties) }}
{{- $kafka := dict "bootstrap-servers" $servers }}
{{- if $clients }}{{ $_ := set $kafka "properties" $clients }}{{ end }}
{{- $_ := set $spring "kafka" $kafka }}
{{- end }}
{{- if .Values.secretConfig }}
{{- $_ := set $spring "config" (dict "import" "configtree:/secrets/config-secret/") }}
{{- end }}
{{- /* A restarted container finds its shards waiting; a stopped instance gives them up. */}}
{{- $intake := dict "instance-id" "${POD_NAME}" "leave-on-stop" true }}
{{- $properties := dict "spring" $spring "order-timeout" (dict "intake" $intake) }}
{{- if or .Values.ingress.enabled .Values.httpRoute.enabled }}
{{- $proxies := dict "remoteip" (dict "internal-proxies" .Values.trustedProxies) }}
{{- $_ := set $properties "server" (dict "forward-headers-strategy" "native" "tomcat" $proxies) }}
{{- with include "order-timeout.contextPath" . }}
{{- $_ := set $properties.server "servlet" (dict "context-path" .) }}
{{- end }}
{{- end }}
{{- /* By their full names, in which the user's take precedence in whatever style they are written. */}}
{{- toYaml (mergeOverwrite (include "order-timeout.flat" (list "" $properties) | fromJson) (include "order-timeout.flat" (list "" .Values.config) | fromJson)) }}
{{- end }}

{{/* The path below which the service serves console and API; empty for the root of its host. */}}
{{- define "order-timeout.contextPath" -}}
{{- if .Values.ingress.enabled }}{{ trimSuffix "/" .Values.ingress.path }}{{ else if .Values.httpRoute.enabled }}{{ trimSuffix "/" .Values.httpRoute.path }}{{ end }}
{{- end }}

{{/* The names of the topics by their role, as JSON. */}}
{{- define "order-timeout.topics" -}}
{{- $context := . }}
{{- $defaults := dict "created" "order-created" "paid" "order-paid" "closed" "order-closed" "attempts" "" "changed" "" "cancelled" "order-cancelled" "conflict" "order-payment-conflict" "expiring" "" }}
{{- $names := dict }}
{{- range $role, $name := $defaults }}
{{- $_ := set $names $role (include "order-timeout.configured" (list $context (print "order-timeout.topics." $role) $name)) }}
{{- end }}
{{- /* One topic may have several roles, and some roles have none. */}}
{{- $inputs := list $names.created $names.paid $names.closed $names.attempts $names.changed | compact | uniq }}
{{- $outputs := list $names.cancelled $names.conflict $names.expiring | compact | uniq }}
{{- $suffix := include "order-timeout.configured" (list . "order-timeout.topics.dead-letter-suffix" ".dlt") }}
{{- $deadLetters := list }}
{{- range $inputs }}{{ $deadLetters = append $deadLetters (print . $suffix) }}{{ end }}
{{- dict "inputs" $inputs "outputs" $outputs "deadLetters" $deadLetters | toJson }}
{{- end }}

{{- define "order-timeout.group" -}}
{{- include "order-timeout.configured" (list . "order-timeout.intake.group-id" "order-timeout") }}
{{- end }}

{{/* Configurations that cannot work, each with the value that has to change. */}}
{{- define "order-timeout.validate" -}}
{{- if not (or .Values.postgres.existingSecret .Values.postgres.withoutPassword) }}
{{- fail "postgres.existingSecret is required: the name of a secret with the password of Postgres; or set postgres.withoutPassword" }}
{{- end }}
{{- if and .Values.postgres.existingSecret .Values.postgres.withoutPassword }}
{{- fail "postgres.existingSecret and postgres.withoutPassword exclude each other" }}
{{- end }}
{{- if and .Values.keda.enabled (not .Values.keda.prometheusUrl) }}
{{- fail "keda.prometheusUrl is required with keda.enabled: the address of a Prometheus that scrapes the service" }}
{{- end }}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
{{- fail "httpRoute.parentRefs is required with httpRoute.enabled: the gateways that the route belongs to" }}
{{- end }}
{{- if and .Values.httpRoute.enabled .Values.ingress.enabled (ne .Values.httpRoute.path .Values.ingress.path) }}
{{- fail (printf "httpRoute.path is %s, but must be that of ingress.path (%s): the service has one path" .Values.httpRoute.path .Values.ingress.path) }}
{{- end }}
{{- if and .Values.keda.enabled (lt (int .Values.keda.maxInstances) (int .Values.instances)) }}
{{- fail (printf "keda.maxInstances is %d, but must be at least instances (%d)" (int .Values.keda.maxInstances) (int .Values.instances)) }}
{{- end }}
{{- if and .Values.keda.enabled .Values.strimzi.topics.enabled (gt (int .Values.keda.maxInstances) (int .Values.strimzi.topics.partitions)) }}
{{- fail (printf "keda.maxInstances is %d, but more than strimzi.topics.partitions (%d) have no shard to serve" (int .Values.keda.maxInstances) (int .Values.strimzi.topics.partitions)) }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.host is required with ingress.enabled" }}
{{- end }}
{{- if and (or .Values.strimzi.topics.enabled .Values.strimzi.user.enabled) (not .Values.strimzi.cluster) }}
{{- fail "strimzi.cluster is required with strimzi.topics.enabled and strimzi.user.enabled: the name of the Kafka resource" }}
{{- end }}
{{- if and (or .Values.kafka.tls.caSecret .Values.kafka.tls.clientSecret) (not .Values.kafka.tls.enabled) }}
{{- fail "kafka.tls.enabled must be true with kafka.tls.caSecret or kafka.tls.clientSecret" }}
{{- end }}
{{- end }}

{{/* The secrets that are mounted below /secrets, by the names of their volumes, as JSON. */}}
{{- define "order-timeout.secretVolumes" -}}
{{- $volumes := dict }}
{{- with .Values.kafka.tls.caSecret }}{{ $_ := set $volumes "kafka-ca" . }}{{ end }}
{{- with .Values.kafka.tls.clientSecret }}{{ $_ := set $volumes "kafka-client" . }}{{ end }}
{{- with .Values.postgres.tls.caSecret }}{{ $_ := set $volumes "postgres-ca" . }}{{ end }}
{{- with .Values.secretConfig }}{{ $_ := set $volumes "config-secret" . }}{{ end }}
{{- toJson $volumes }}
{{- end }}
