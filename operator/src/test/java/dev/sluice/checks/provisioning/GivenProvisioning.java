package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig.ProvisioningRequestConfigSpec;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** A Workload with a provisioning check, its configuration and its request, as YAML says. */
final class GivenProvisioning {

  static final String RESERVED_AT = "2026-03-01T10:00:00Z";

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private final ObjectNode workload =
      (ObjectNode)
          yaml(
              """
              apiVersion: kueue.x-k8s.io/v1beta2
              kind: Workload
              metadata: {name: wl, namespace: ns, uid: wl-uid, resourceVersion: "7"}
              spec:
                podSets:
                - name: main
                  count: 5
                  template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
              status:
                conditions:
                - {type: QuotaReserved, status: "True", lastTransitionTime: "2026-03-01T10:00:00Z"}
                admission:
                  clusterQueue: cq
                  podSetAssignments: [{name: main, count: 3, flavors: {cpu: spot}}]
                admissionChecks:
                - {name: check, state: Pending, message: "", lastTransitionTime: "2026-03-01T10:00:00Z"}
              """);

  static JsonNode yaml(String text) {
    try {
      return YAML.readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static ProvisioningRequestConfigSpec config(String fields) {
    try {
      return YAML.readValue(
          "provisioningClassName: nodes\n" + fields, ProvisioningRequestConfigSpec.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A request of the Workload; the text is merged into it at the top. */
  static CachedRequest request(String name, String status) {
    return CachedRequest.of(requestJson(name, status));
  }

  static ObjectNode requestJson(String name, String status) {
    ObjectNode request =
        (ObjectNode)
            yaml(
                """
                metadata:
                  namespace: ns
                  name: %s
                  uid: pr-uid
                  labels: {kueue.x-k8s.io/managed: "true"}
                  annotations: {sluice.dev/quota-reserved-at: "%s"}
                  ownerReferences: [{kind: Workload, name: wl, uid: wl-uid, controller: true}]
                spec:
                  provisioningClassName: nodes
                  podSets: [{count: 3, podTemplateRef: {name: ppt}}]
                """
                    .formatted(name, RESERVED_AT));
    request.set("status", yaml(status));
    return request;
  }

  /** The status of a request with one condition. */
  static String condition(String type, String message) {
    return "conditions: [{type: %s, status: 'True', reason: R, message: '%s'}]"
        .formatted(type, message);
  }

  /** Sets a field of the Workload. */
  GivenProvisioning with(String pointer, String yaml) {
    int slash = pointer.lastIndexOf('/');
    JsonNode holder = workload.at(pointer.substring(0, slash));
    String last = pointer.substring(slash + 1);
    if (holder instanceof ObjectNode object) {
      object.set(last, yaml(yaml));
    } else {
      ((ArrayNode) holder).set(Integer.parseInt(last), yaml(yaml));
    }
    return this;
  }

  /** With another state of the check, so many retries ago. */
  GivenProvisioning check(String state, int retries) {
    return with("/status/admissionChecks/0/state", state)
        .with("/status/admissionChecks/0/retryCount", Integer.toString(retries));
  }

  /** With a condition that is True. */
  GivenProvisioning isTrue(String type) {
    ((ArrayNode) workload.at("/status/conditions"))
        .addObject()
        .put("type", type)
        .put("status", "True")
        .put("lastTransitionTime", RESERVED_AT);
    return this;
  }

  ObjectNode json() {
    return workload;
  }

  CachedWorkload workload() {
    try {
      return new WorkloadParser().parse(workload.toString().getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  CheckState state() {
    return workload().status().admissionChecks().getFirst();
  }
}
