{{/* The name of all objects. */}}
{{- define "order-timeout.name" -}}
{{- $name := .Release.Name }}
{{- if not (contains .Chart.Name .Release.Name) }}{{ $name = printf "%s-%s" .Release.Name .Chart.Name }}{{ end }}
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

{{/* The properties of the service that follow from the values, and those in config. */}}
{{- define "order-timeout.properties" -}}
{{- $url := required "postgres.url is required, for example jdbc:postgresql://postgres:5432/ordertimeout" .Values.postgres.url }}
{{- $servers := required "kafka.bootstrapServers is required, for example kafka-bootstrap:9092" .Values.kafka.bootstrapServers }}
{{- $spring := dict "datasource" (dict "url" $url "username" .Values.postgres.username) }}
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
{{- with include "order-timeout.contextPath" . }}
{{- $_ := set $properties "server" (dict "servlet" (dict "context-path" .)) }}
{{- end }}
{{- toYaml (mergeOverwrite $properties (deepCopy .Values.config)) }}
{{- end }}

{{/* The path below which the service serves console and API; empty for the root of its host. */}}
{{- define "order-timeout.contextPath" -}}
{{- if .Values.ingress.enabled }}{{ trimSuffix "/" .Values.ingress.path }}{{ end }}
{{- end }}

{{/* The names of the topics by their role, as JSON. */}}
{{- define "order-timeout.topics" -}}
{{- $configured := dig "order-timeout" "topics" dict .Values.config }}
{{- $suffix := index $configured "dead-letter-suffix" | default ".dlt" }}
{{- $names := dict "created" "order-created" "paid" "order-paid" "closed" "order-closed" "cancelled" "order-cancelled" "conflict" "order-payment-conflict" }}
{{- range $role, $name := $names }}
{{- $_ := set $names $role (index $configured $role | default $name) }}
{{- end }}
{{- $inputs := list $names.created $names.paid $names.closed }}
{{- $deadLetters := list }}
{{- range $inputs }}{{ $deadLetters = append $deadLetters (print . $suffix) }}{{ end }}
{{- dict "inputs" $inputs "outputs" (list $names.cancelled $names.conflict) "deadLetters" $deadLetters | toJson }}
{{- end }}

{{- define "order-timeout.group" -}}
{{- dig "order-timeout" "intake" "group-id" "order-timeout" .Values.config }}
{{- end }}

{{/* Configurations that cannot work, each with the value that has to change. */}}
{{- define "order-timeout.validate" -}}
{{- if not .Values.postgres.existingSecret }}
{{- fail "postgres.existingSecret is required: the name of a secret with the password of Postgres" }}
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
