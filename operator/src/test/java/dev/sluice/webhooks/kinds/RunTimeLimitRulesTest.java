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
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Jobs that name a limit, in LocalQueue short, which has one, and LocalQueue long, which hasn't.
 */
class RunTimeLimitRulesTest {

  private static final String SECONDS = "/metadata/labels/kueue.x-k8s.io~1max-exec-time-seconds";
  private static final String QUEUE = "/metadata/labels/kueue.x-k8s.io~1queue-name";
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
      };

  private final BatchJobWebhook rules = new BatchJobWebhook(settings(), CLUSTER);

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
