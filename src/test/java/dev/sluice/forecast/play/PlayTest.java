package dev.sluice.forecast.play;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.PodSetRequest;
import dev.sluice.core.model.RequestShape;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PlayTest {

  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");
  private static final Duration GRACE = Duration.ofSeconds(30);

  private final Map<String, Duration> lasts = new LinkedHashMap<>();
  private final List<String> story = new ArrayList<>();

  private Play play(PreemptionPolicies preemption) {
    List<Decision> decisions = new ArrayList<>();
    InlineScheduler scheduler = new InlineScheduler(EngineOptions.DEFAULT, decisions::add);
    scheduler.apply(new SchedulerEvent.TimePassed(BEGIN));
    scheduler.apply(new SchedulerEvent.NamespaceChanged("team", Map.of()));
    scheduler.apply(
        new SchedulerEvent.FlavorChanged(new Flavor("any", Map.of(), List.of(), List.of())));
    scheduler.apply(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                "cq",
                "",
                List.of(
                    new ResourceGroup(
                        List.of("cpu"),
                        List.of(
                            new ResourceGroup.FlavorQuotas(
                                "any",
                                Map.of(
                                    "cpu",
                                    new ResourceGroup.Quota(
                                        4_000,
                                        ResourceAmounts.UNLIMITED,
                                        ResourceAmounts.UNLIMITED)))))),
                QueueingStrategy.BEST_EFFORT_FIFO,
                new LabelSelector.Requirements(List.of()),
                StopPolicy.NONE,
                false,
                preemption,
                FlavorFungibility.DEFAULT,
                BigDecimal.ONE,
                List.of(),
                List.of(),
                false)));
    scheduler.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("team", "lq"), "cq", StopPolicy.NONE)));
    scheduler.apply(new SchedulerEvent.DecidingEnabled(true));
    return new Play(
        new Play.Source(scheduler, decisions),
        BEGIN,
        1,
        (id, run) -> Optional.ofNullable(lasts.get(id.name())),
        GRACE,
        new PlayListener() {
          @Override
          public void started(Decision.Admit admission, int run) {
            told(admission.at(), admission.id().name() + " starts " + run);
          }

          @Override
          public void ended(WorkloadId id, Instant at) {
            told(at, id.name() + " ends");
          }

          @Override
          public void preempted(WorkloadId id, Decision.PreemptionReason reason, Instant at) {
            told(at, id.name() + " preempted " + reason.apiReason());
          }
        });
  }

  private void told(Instant at, String what) {
    story.add(Duration.between(BEGIN, at).toMinutes() + "m " + what);
  }

  private void arrives(Play play, String name, int minute, int cpus, int minutes, long priority) {
    Instant at = BEGIN.plus(Duration.ofMinutes(minute));
    if (minutes > 0) {
      lasts.put(name, Duration.ofMinutes(minutes));
    }
    play.arrives(
        at,
        new PendingWorkload(
            new WorkloadId(name + "-uid", "team", name),
            0,
            "lq",
            new RequestShape(
                List.of(
                    new PodSetRequest(
                        "main",
                        1,
                        0,
                        new TreeMap<>(Map.of("cpu", cpus * 1_000L)),
                        NodeConstraints.ANYWHERE,
                        ""))),
            priority,
            at,
            at,
            Optional.empty(),
            false,
            Optional.empty()));
  }

  @Test
  void startsAreWhereOthersEnd() {
    Play play = play(PreemptionPolicies.NEVER);
    arrives(play, "first", 0, 3, 60, 0);
    arrives(play, "second", 1, 3, 30, 0);
    arrives(play, "small", 2, 1, 10, 0);

    play.run(Instant.MAX, () -> false);

    assertThat(story)
        .containsExactly(
            "0m first starts 1",
            "2m small starts 1",
            "12m small ends",
            "60m first ends",
            "60m second starts 1",
            "90m second ends");
    assertThat(play.live()).isZero();
    assertThat(play.now()).isEqualTo(BEGIN.plus(Duration.ofMinutes(90)));
  }

  @Test
  void preemptedWorkloadsStartAnewWhenTheirPodsHaveStopped() {
    Play play =
        play(
            new PreemptionPolicies(
                WithinClusterQueue.LOWER_PRIORITY,
                ReclaimWithinCohort.NEVER,
                false,
                OptionalInt.empty()));
    arrives(play, "low", 0, 4, 60, 0);
    arrives(play, "high", 10, 4, 20, 5);

    play.run(Instant.MAX, () -> false);

    assertThat(story)
        .containsExactly(
            "0m low starts 1",
            "10m low preempted InClusterQueue",
            "10m high starts 1",
            "30m high ends",
            "30m low starts 2",
            "90m low ends");
  }

  @Test
  void nothingIsPlayedBeyondTheHorizonOrWhenEnoughWasSeen() {
    Play play = play(PreemptionPolicies.NEVER);
    arrives(play, "first", 0, 4, 60, 0);
    arrives(play, "second", 1, 4, 60, 0);

    play.run(BEGIN.plus(Duration.ofMinutes(59)), () -> false);
    assertThat(story).containsExactly("0m first starts 1");

    play.run(Instant.MAX, () -> story.contains("60m second starts 1"));
    assertThat(story).containsExactly("0m first starts 1", "60m first ends", "60m second starts 1");
  }

  @Test
  void whatNeverEndsLetsNobodyStart() {
    Play play = play(PreemptionPolicies.NEVER);
    arrives(play, "endless", 0, 4, 0, 0);
    arrives(play, "second", 1, 4, 60, 0);

    play.run(Instant.MAX, () -> false);

    assertThat(story).containsExactly("0m endless starts 1");
    assertThat(play.live()).isEqualTo(2);
  }
}
