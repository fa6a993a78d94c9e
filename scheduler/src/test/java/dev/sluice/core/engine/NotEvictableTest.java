package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FairSharing;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workloads whose pods nobody would stop: they hold their quota, and nobody preempts them. */
class NotEvictableTest {

  private static final String LEFT_OUT = "whose pods nobody would stop";
  private static final PreemptionPolicies ALL =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.ANY, false, OptionalInt.empty());

  private static SchedulerFixture fixture(boolean fairly) {
    SchedulerFixture fixture =
        new SchedulerFixture(
            new EngineOptions(
                fairly
                    ? Optional.of(
                        new FairSharing(
                            List.of(FairSharing.Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE),
                            true,
                            true))
                    : Optional.empty(),
                false));
    fixture.flavor("f");
    return fixture;
  }

  private static String detail(SchedulerFixture fixture, String name) {
    return fixture.explanation(name).map(Explanation::detail).orElse("");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nobodyOfTheSameQueuePreemptsThem(boolean fairly) {
    SchedulerFixture fixture = fixture(fairly);
    fixture.queue("q", "co", ALL, quota("f", 10));
    fixture.running("foreign", "q", 6, 0, false);
    fixture.running("own", "q", 4, 1, true);

    fixture.submit("small", "q", 4, 9, 1);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).containsExactly("own for small: InClusterQueue");
    fixture.finish("own");
    assertThat(fixture.admitted()).containsExactly("small");

    fixture.submit("large", "q", 6, 99, 2);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).isEmpty();
    assertThat(detail(fixture, "large")).startsWith("preemption does not help").contains(LEFT_OUT);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nobodyReclaimsFromThem(boolean fairly) {
    SchedulerFixture fixture = fixture(fairly);
    fixture.queue("owner", "co", ALL, quota("f", 10));
    fixture.queue("borrower", "co", quota("f", 0));
    fixture.running("foreign", "borrower", 10, 0, false);

    fixture.submit("w", "owner", 5, 9, 1);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).isEmpty();
    assertThat(detail(fixture, "w")).contains(LEFT_OUT);

    fixture.running("foreign", "borrower", 10, 0, true);
    assertThat(fixture.admitted()).isEmpty();
    assertThat(fixture.preempted()).containsExactly("foreign for w: InCohortReclamation");
  }

  @Test
  void theyAreNoTargetsEitherBeforeTheirAdmissionIsWritten() {
    SchedulerFixture fixture = fixture(false);
    fixture.queue("q", "", ALL, quota("f", 10));
    fixture.submitNotEvictable("foreign", "q", 10, 0);
    assertThat(fixture.engine.cycle()).isTrue();
    assertThat(fixture.admission("foreign").clusterQueue()).isEqualTo("q");

    fixture.submit("w", "q", 5, 9, 1);
    assertThat(fixture.engine.cycle()).isTrue();
    assertThat(fixture.preempted()).isEmpty();
    assertThat(detail(fixture, "w")).contains(LEFT_OUT);
  }

  @Test
  void theyCountAsReservingAndTheirQuotaIsBackWhenTheyFinish() {
    SchedulerFixture fixture = fixture(false);
    fixture.queue("q", "", ALL, quota("f", 10));
    fixture.running("foreign", "q", 10, 0, false);
    ViewPublisher views = new ViewPublisher();
    fixture.submit("w", "q", 5, 9, 1);
    fixture.admitted();
    views.publish(fixture.engine);
    assertThat(views.clusterQueue("q")).get().matches(view -> view.reserving() == 1);

    fixture.finish("foreign");
    assertThat(fixture.admitted()).containsExactly("w");
  }

  @Test
  void thoseWhoWaitForOthersAreNotToldOfThem() {
    SchedulerFixture fixture = fixture(false);
    fixture.queue("q", "", ALL, quota("f", 10));
    fixture.running("important", "q", 10, 50, true);
    fixture.submit("w", "q", 5, 9, 1);
    fixture.admitted();
    assertThat(detail(fixture, "w"))
        .startsWith("preemption does not help")
        .doesNotContain(LEFT_OUT);
  }
}
