package dev.sluice.queues.cache;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.queueing.QuotaSchedule.CurrentFactor;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FungibilityGates;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.controller.WorkQueueSettings.GroupKindConcurrency;
import dev.sluice.queues.mapping.EffectiveQuotasMapper;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the engine and people hear of quota while time passes. */
class CachedQuotaSchedulesTest {

  private static final String OFFICE = "Mon-Fri 08:00-18:00 0.5; Sat,Sun 2";

  private record Timer(Instant due, Runnable task) {}

  private final List<Timer> timers = new ArrayList<>();
  private final List<String> told = new ArrayList<>();
  private final List<SchedulerEvent> events = new ArrayList<>();
  private final InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
  // a Monday
  private Instant now = Instant.parse("2026-01-05T07:58:30Z");
  private final CachedQuotaSchedules schedules =
      new CachedQuotaSchedules(
          caches,
          () -> now,
          new WorkQueueSettings(
              Runnable::run,
              (delay, task) -> timers.add(new Timer(now.plus(delay), task)),
              () -> Duration.between(Instant.EPOCH, now).toNanos(),
              1,
              Duration.ofSeconds(1),
              Duration.ofSeconds(1),
              GroupKindConcurrency.NONE));
  private final CacheEventFeed feed =
      new CacheEventFeed(
          caches,
          events::add,
          false,
          FungibilityGates.DEFAULT,
          new EffectiveQuotasMapper(false),
          () -> now);

  CachedQuotaSchedulesTest() {
    feed.open();
    schedules.onChange(
        (queue, before, current) -> {
          told.add(
              "%s: %s -> %s"
                  .formatted(
                      queue,
                      before.map(CurrentFactor::text).orElse("none"),
                      current.map(CurrentFactor::text).orElse("none")));
          if (before.isPresent()) {
            feed.timeHasPassed(queue);
          }
        });
  }

  private void queue(String name, String annotations) {
    try {
      ClusterQueue queue =
          new YAMLMapper()
              .readValue(
                  """
                  metadata: {name: %s, annotations: {%s}}
                  spec:
                    resourceGroups:
                    - coveredResources: [cpu, pods]
                      flavors:
                      - name: f
                        resources:
                        - {name: cpu, nominalQuota: 3001m, borrowingLimit: 7, lendingLimit: 1}
                        - {name: pods, nominalQuota: 3}
                  """
                      .formatted(name, annotations),
                  ClusterQueue.class);
      caches.clusterQueues().put(caches.clusterQueues().getKey(queue), queue);
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  private void scheduled(String name, String schedule) {
    queue(name, "sluice.dev/quota-schedule: \"" + schedule + "\"");
  }

  private void passTo(String time) {
    now = Instant.parse(time);
    List<Timer> due = timers.stream().filter(each -> !each.due().isAfter(now)).toList();
    timers.removeAll(due);
    due.forEach(each -> each.task().run());
  }

  private ClusterQueueSpec heard() {
    return ((SchedulerEvent.ClusterQueueChanged) events.getLast()).queue();
  }

  private Map<String, Quota> quotas() {
    return heard().groups().getFirst().flavors().getFirst().quotas();
  }

  @Test
  void theEngineHearsOfTheQuotaOfTheTime() {
    scheduled("batch", OFFICE);
    assertThat(quotas().get("cpu")).isEqualTo(new Quota(3001, 7000, 1000));

    passTo("2026-01-05T08:00:00Z");

    assertThat(quotas())
        .isEqualTo(
            Map.of(
                "cpu",
                new Quota(1500, 7000, 500),
                "pods",
                new Quota(1, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED)));
    assertThat(heard().problems()).isEmpty();
    assertThat(told)
        .containsExactly(
            "batch: none -> at factor 1 until 2026-01-05T08:00:00Z",
            "batch: at factor 1 until 2026-01-05T08:00:00Z -> at factor 0.5 until"
                + " 2026-01-05T18:00:00Z");
    assertThat(schedules.factors()).isEqualTo(Map.of("batch", new BigDecimal("0.5")));
    assertThat(events).hasSize(2);
  }

  @Test
  void aClockThatWasPutRightIsFollowedWithinAMinute() {
    scheduled("batch", OFFICE);
    assertThat(timers).extracting(Timer::due).containsExactly(now.plusSeconds(60));
    passTo("2026-01-10T12:00:00Z");
    assertThat(quotas().get("cpu")).isEqualTo(new Quota(6002, 7000, 2000));
    // the clock goes back to Monday, the timer goes on
    timers.replaceAll(each -> new Timer(Instant.parse("2026-01-05T09:00:00Z"), each.task()));
    passTo("2026-01-05T09:00:00Z");
    assertThat(quotas().get("cpu")).isEqualTo(new Quota(1500, 7000, 500));
    assertThat(told).last().asString().endsWith("-> at factor 0.5 until 2026-01-05T18:00:00Z");
  }

  @Test
  void aLookAtTheSameFactorTellsNothing() {
    scheduled("batch", OFFICE);
    passTo("2026-01-05T07:59:30Z");
    assertThat(told).hasSize(1);
    assertThat(events).hasSize(1);
    assertThat(timers)
        .extracting(Timer::due)
        .containsExactly(Instant.parse("2026-01-05T08:00:00Z"));
  }

  @Test
  void anotherScheduleCountsAtOnce() {
    scheduled("batch", OFFICE);
    scheduled("batch", "Mon-Sun 0");
    assertThat(quotas().get("cpu")).isEqualTo(new Quota(0, 7000, 0));
    assertThat(told).last().isEqualTo("batch: none -> at factor 0");
    queue("batch", "");
    assertThat(quotas().get("cpu")).isEqualTo(new Quota(3001, 7000, 1000));
    assertThat(told).last().isEqualTo("batch: none -> none");
    assertThat(schedules.of("batch")).isEmpty();
    assertThat(schedules.factors()).isEmpty();
  }

  @Test
  void withoutSchedulesThereIsNoTimer() {
    queue("plain", "");
    assertThat(timers).isEmpty();
    scheduled("batch", OFFICE);
    queue("batch", "");
    passTo("2026-01-05T07:59:30Z");
    assertThat(timers).isEmpty();
    assertThat(schedules.of("plain")).isEqualTo(Optional.empty());
  }

  @Test
  void aStoredScheduleThatCantBeReadIsReportedAndCountsAsNone() {
    scheduled("batch", "Mon-Fri 08:00-18:00 half");
    assertThat(quotas().get("cpu")).isEqualTo(new Quota(3001, 7000, 1000));
    assertThat(heard().problems())
        .singleElement()
        .satisfies(
            problem ->
                assertThat(problem.message())
                    .isEqualTo(
                        "metadata.annotations[sluice.dev/quota-schedule]: \"Mon-Fri 08:00-18:00"
                            + " half\" must be rows with a factor from 0 to 100 with at most three"
                            + " decimals, such as 0.5"));
    assertThat(schedules.factors()).isEmpty();
    assertThat(timers).isEmpty();
  }
}
