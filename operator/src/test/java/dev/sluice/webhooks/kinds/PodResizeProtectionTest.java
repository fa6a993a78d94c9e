package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.webhooks.EmptyCluster;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.ClusterLookup;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A pod that is resized in place. */
class PodResizeProtectionTest {

  private static final JsonNode POD =
      yaml(
          """
          kind: Pod
          metadata: {name: a, namespace: team}
          spec:
            containers:
            - {name: b, resources: {requests: {cpu: "1"}}}
            - {name: c, resources: {requests: {cpu: "1"}}}
          """);
  private static final JsonNode LARGER =
      edited(POD, set("/spec/containers/1/resources/requests/cpu", "\"2\""));

  private static AdmissionFunction protection(Optional<String> excess) {
    ClusterLookup cluster =
        new EmptyCluster() {
          @Override
          public Optional<String> admissionExcess(String namespace, JsonNode before, JsonNode pod) {
            return excess.filter(it -> before.equals(POD) && pod.equals(LARGER));
          }
        };
    return new PodResizeProtection(cluster, request -> AdmissionResult.allowed());
  }

  private static AdmissionRequest resize(JsonNode before, JsonNode now) {
    AdmissionRequest update = update(before, now);
    return new AdmissionRequest(
        update.uid(),
        update.operation(),
        "resize",
        update.group(),
        update.kind(),
        update.namespace(),
        update.name(),
        update.requestingUser(),
        update.object(),
        update.oldObject(),
        false);
  }

  @Test
  void aPodMayNotGrowAboveWhatItWasAdmittedWith() {
    assertThat(
            Reviews.messages(
                protection(Optional.of("cpu: 3000 of 2000")).review(resize(POD, LARGER))))
        .singleElement()
        .asString()
        .contains("spec.containers[1].resources")
        .contains("\"2\"")
        .contains("may not request more than it was admitted with")
        .contains("cpu: 3000 of 2000");
  }

  @Test
  void aPodThatIsAJobOfItsOwnIsNotResized() {
    JsonNode managed =
        edited(POD, set("/metadata/labels", "{\"kueue.x-k8s.io/managed\": \"true\"}"));
    JsonNode larger = edited(managed, set("/spec/containers/1/resources/requests/cpu", "\"500m\""));

    assertThat(Reviews.messages(protection(Optional.empty()).review(resize(managed, larger))))
        .containsExactly(
            "spec.containers: Forbidden: the resources of a pod that is queued by itself can't"
                + " change: its Workload says what it requests");
    for (String map : new String[] {"labels", "annotations"}) {
      String group =
          "{\"kueue.x-k8s.io/managed\": \"true\", \"kueue.x-k8s.io/pod-group-name\": \"g\"}";
      JsonNode member = edited(managed, set("/metadata/" + map, group));
      assertThat(Reviews.messages(protection(Optional.empty()).review(resize(member, larger))))
          .isEmpty();
    }
  }

  @Test
  void whatIsWithinTheAdmissionAndWhatIsNoResizeIsAllowed() {
    assertThat(Reviews.messages(protection(Optional.empty()).review(resize(POD, LARGER))))
        .isEmpty();
    assertThat(
            Reviews.messages(
                protection(Optional.of("cpu: 3000 of 2000")).review(update(POD, LARGER))))
        .isEmpty();
  }
}
