package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.messages;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.settings;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.webhooks.EmptyCluster;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Jobs and Workloads that name a limit, in LocalQueue short, which has one, and LocalQueue long,
 * which hasn't.
 */
class RunTimeLimitRulesTest {

  private static final String SECONDS = "/metadata/labels/kueue.x-k8s.io~1max-exec-time-seconds";
  private static final String QUEUE = "/metadata/labels/kueue.x-k8s.io~1queue-name";
  private static final String ORIGIN = "/metadata/labels/kueue.x-k8s.io~1multikueue-origin";
  private static final String REFUSED =
      "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: \"%d\": must be at"
          + " most 3600, the longest run time of LocalQueue team/short";

  private static final JsonNode SHORT =
      yaml(
          """
          apiVersion: batch/v1
          kind: Job
          metadata:
            name: a
            namespace: team
            labels: {kueue.x-k8s.io/queue-name: short}
          spec:
            suspend: true
            template: {spec: {containers: [{name: c, image: i}]}}
          """);

  private static final EmptyCluster CLUSTER =
      new EmptyCluster() {
        @Override
        public Optional<QueueRunTime> maxRunTime(String namespace, String queue) {
          return namespace.equals("team") && queue.equals("short")
              ? Optional.of(new QueueRunTime(Duration.ofHours(1), "LocalQueue team/short"))
              : Optional.empty();
        }

        @Override
        public boolean isOperator(String user) {
          return user.equals(OPERATOR);
        }
      };

  private static final String OPERATOR = "operator";
  private static final String WORKLOADS = "kueue-x-k8s-io-v1beta2-workload";
  private static final String SPEC_LIMIT = "/spec/maximumExecutionTimeSeconds";
  private static final JsonNode WORKLOAD =
      yaml(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: Workload
          metadata: {name: w, namespace: team}
          spec:
            queueName: short
            podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i}]}}}]
          """);

  private final Map<String, AdmissionFunction> functions = Webhooks.functions(settings(), CLUSTER);
  private final BatchJobWebhook rules = new BatchJobWebhook(settings(), CLUSTER);

  private List<String> refusals(AdmissionRequest request) {
    return messages(function("/validate-").review(request));
  }

  private List<String> patch(AdmissionRequest request) {
    return Reviews.patch(function("/mutate-").review(request));
  }

  private AdmissionFunction function(String prefix) {
    return Objects.requireNonNull(functions.get(prefix + WORKLOADS));
  }

  private static JsonNode workload(int seconds) {
    return edited(WORKLOAD, set(SPEC_LIMIT, String.valueOf(seconds)));
  }

  private static String refused(int seconds) {
    return "spec.maximumExecutionTimeSeconds: Invalid value: %d: must be from 1 to 3600, the longest run time of LocalQueue team/short"
        .formatted(seconds);
  }

  /** A job that names the Workload as made for it would run without end. */
  @Test
  void aWorkloadThatSomebodyMakesGetsTheLimitOfItsQueue() {
    assertThat(patch(create(WORKLOAD)))
        .containsExactly(
            "{\"op\":\"add\",\"path\":\"/spec/maximumExecutionTimeSeconds\",\"value\":3600}",
            "{\"op\":\"add\",\"path\":\"/metadata/annotations\",\"value\":{}}",
            "{\"op\":\"add\",\"path\":\"/metadata/annotations/sluice.dev~1max-run-time\",\"value\":\"3600s\"}");
    assertThat(patch(create(workload(60)))).isEmpty();
    assertThat(patch(create(edited(WORKLOAD, set("/spec/queueName", "long"))))).isEmpty();
    assertThat(patch(create(WORKLOAD, OPERATOR))).isEmpty();
    assertThat(patch(create(edited(WORKLOAD, set(ORIGIN, "manager"))))).isEmpty();
  }

  /** Changes of 0.20, section 7: whoever changes a Workload is checked like whoever makes it. */
  @Test
  void aWorkloadIsNotMadeOrChangedToRunLongerThanItsQueueAllows() {
    assertThat(refusals(create(workload(3_600)))).isEmpty();
    assertThat(refusals(create(workload(3_601)))).containsExactly(refused(3_601));
    assertThat(refusals(create(workload(3_601), OPERATOR))).isEmpty();
    assertThat(refusals(create(edited(workload(3_601), set(ORIGIN, "manager"))))).isEmpty();
    assertThat(refusals(update(workload(60), workload(3_601)))).containsExactly(refused(3_601));
    assertThat(refusals(update(workload(60), WORKLOAD))).containsExactly(refused(0));
    for (int seconds : new int[] {0, 3_601}) {
      JsonNode now = workload(seconds);
      JsonNode elsewhere = edited(now, set("/spec/queueName", "long"));
      assertThat(refusals(create(elsewhere))).isEmpty();
      assertThat(refusals(update(elsewhere, now))).containsExactly(refused(seconds));
    }
  }

  @Test
  void aWorkloadThatHadMoreBeforeTheQueueHadALimitStays() {
    JsonNode changed = edited(workload(7_200), set("/metadata/annotations", "{a: b}"));
    assertThat(refusals(update(workload(7_200), changed))).isEmpty();
    assertThat(refusals(update(WORKLOAD, edited(WORKLOAD, set("/spec/active", "false")))))
        .isEmpty();
  }

  private static JsonNode limited(int seconds) {
    return edited(SHORT, set(SECONDS, "\"" + seconds + "\""));
  }

  @Test
  void aJobThatNamesMoreThanItsQueueIsRefused() {
    assertThat(messages(rules::validate, create(SHORT))).isEmpty();
    assertThat(messages(rules::validate, create(limited(3_600)))).isEmpty();
    assertThat(messages(rules::validate, create(limited(3_601))))
        .containsExactly(REFUSED.formatted(3_601));
    assertThat(messages(rules::validate, create(edited(limited(3_601), set(QUEUE, "long")))))
        .isEmpty();
  }

  @Test
  void soIsAnUpdateThatRaisesTheLimitOrMovesTheJob() {
    assertThat(messages(rules::validate, update(limited(60), limited(7_200))))
        .containsExactly(REFUSED.formatted(7_200));
    assertThat(
            messages(
                rules::validate,
                update(edited(limited(7_200), set(QUEUE, "long")), limited(7_200))))
        .containsExactly(REFUSED.formatted(7_200));
  }

  @Test
  void aJobThatHadMoreBeforeTheQueueHadALimitStays() {
    JsonNode changed = edited(limited(7_200), set("/metadata/annotations", "{a: b}"));
    assertThat(messages(rules::validate, update(limited(7_200), changed))).isEmpty();
  }
}
