package io.ordertimeout.it.kubernetes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPRoute;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import io.kubernetes.client.openapi.JSON;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1Ingress;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import io.kubernetes.client.openapi.models.V1Pod;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Secret;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1ServiceAccount;
import io.kubernetes.client.openapi.models.V1StatefulSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What Kubernetes, the Prometheus operator and Strimzi accept: an unknown field is an error. */
final class Schemas {

  private static final Map<String, Class<?>> KUBERNETES =
      Map.of(
          "v1/ConfigMap", V1ConfigMap.class,
          "v1/Pod", V1Pod.class,
          "v1/Secret", V1Secret.class,
          "v1/Service", V1Service.class,
          "v1/ServiceAccount", V1ServiceAccount.class,
          "apps/v1/StatefulSet", V1StatefulSet.class,
          "policy/v1/PodDisruptionBudget", V1PodDisruptionBudget.class,
          "networking.k8s.io/v1/NetworkPolicy", V1NetworkPolicy.class,
          "networking.k8s.io/v1/Ingress", V1Ingress.class);

  private static final Map<String, Class<?>> OPERATORS =
      Map.of(
          "monitoring.coreos.com/v1/ServiceMonitor",
          ServiceMonitor.class,
          "monitoring.coreos.com/v1/PrometheusRule",
          PrometheusRule.class,
          "gateway.networking.k8s.io/v1/HTTPRoute",
          HTTPRoute.class,
          // The chart renders nothing in which the two versions differ.
          "kafka.strimzi.io/v1/KafkaTopic",
          strimzi("topic.KafkaTopic"),
          "kafka.strimzi.io/v1beta2/KafkaTopic",
          strimzi("topic.KafkaTopic"),
          "kafka.strimzi.io/v1/KafkaUser",
          strimzi("user.KafkaUser"),
          "kafka.strimzi.io/v1beta2/KafkaUser",
          strimzi("user.KafkaUser"));

  private static final ObjectMapper STRICT =
      new ObjectMapper()
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .setAnnotationIntrospector(
              new JacksonAnnotationIntrospector() {
                // The models would keep unknown fields there.
                @Override
                public Boolean hasAnySetter(Annotated annotated) {
                  return false;
                }
              });

  private Schemas() {}

  /** By its name: the compiler would warn that the annotations of the model are not published. */
  private static Class<?> strimzi(String model) {
    try {
      return Class.forName("io.strimzi.api.kafka.model." + model);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whether there is a schema for the object's kind. */
  static boolean know(JsonNode object) {
    return KUBERNETES.containsKey(type(object)) || OPERATORS.containsKey(type(object));
  }

  /**
   * Parses an object of a known kind.
   *
   * @throws IllegalArgumentException if a field is unknown, missing or of a wrong type
   */
  static void validate(JsonNode object) {
    Object parsed = parse(object);
    if (parsed == null) {
      throw new IllegalArgumentException(Chart.kind(object) + " is empty");
    }
  }

  private static @Nullable Object parse(JsonNode object) {
    Class<?> model = KUBERNETES.get(type(object));
    try {
      return model != null
          ? JSON.deserialize(object.toString(), model)
          : STRICT.readValue(object.toString(), OPERATORS.get(type(object)));
    } catch (RuntimeException | JsonProcessingException e) {
      throw new IllegalArgumentException(Chart.kind(object) + ": " + e.getMessage(), e);
    }
  }

  private static String type(JsonNode object) {
    return object.path("apiVersion").asString() + "/" + Chart.kind(object);
  }
}
