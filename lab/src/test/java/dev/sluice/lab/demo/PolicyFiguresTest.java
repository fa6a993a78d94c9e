package dev.sluice.lab.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.lab.demo.PolicyFigures.Policy;
import dev.sluice.lab.demo.PolicyTrial.TrialJob;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The figures of the demo of policies, and the sentences that follow from them. */
class PolicyFiguresTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private static TrialJob job(int cpus, int priority, int created, int reserved) {
    return new TrialJob(
        "q",
        cpus,
        priority,
        START.plusSeconds(created),
        START.plusSeconds(created),
        Optional.of(START.plusSeconds(reserved)),
        Optional.of(START.plusSeconds(reserved + 3)));
  }

  /** The big Job is passed by two small ones with Round, and first where it blocks. */
  private static final PolicyFigures STARVING =
      new PolicyFigures(
          List.of(
              new Policy("Round", List.of(job(8, 0, 0, 30), job(1, 0, 5, 6), job(1, 0, 6, 7))),
              new Policy("Block", List.of(job(8, 0, 0, 10), job(1, 0, 5, 17), job(1, 0, 6, 17)))));

  @Test
  void thePassedAreThoseBeforeInTheOrderOfTheQueue() {
    assertThat(STARVING.policies()).extracting(Policy::passed).containsExactly(2L, 0L);
    Policy urgent = new Policy("q", List.of(job(1, 0, 0, 9), job(1, 100, 5, 6)));
    assertThat(urgent.passed()).as("by one of a higher priority").isZero();
    Policy late = new Policy("q", List.of(job(1, 0, 0, 1), job(1, 100, 5, 6)));
    assertThat(late.passed()).as("before it came").isZero();
    Policy fresh = new Policy("q", List.of(job(1, 0, 0, 9), job(1, 0, 1, 3)));
    assertThat(fresh.passed()).as("before it was known").isZero();
    Policy together = new Policy("q", List.of(job(1, 0, 0, 9), job(1, 0, 1, 8)));
    assertThat(together.passed()).as("by one of the same moment").isZero();
    Policy second = new Policy("q", List.of(job(1, 0, 0, 9), job(1, 0, 0, 6)));
    assertThat(second.passed()).as("by one of the same second").isZero();
  }

  @Test
  void theTableHasALineForEachSizeAndPriority() {
    assertThat(STARVING.table())
        .containsExactly(
            "cpus  priority  jobs      Round             Block",
            "   1  0         2         1.0 (1.0)         11.5 (12.0)",
            "   8  0         1         30.0 (30.0)       10.0 (10.0)",
            "until all had ended       33.0              20.0",
            "passed by one behind it   2                 0");
  }

  @Test
  void theWordsFollowFromTheFigures() {
    assertThat(STARVING.words())
        .containsExactly(
            "Jobs of 8 CPUs waited 30.0 s on average with Round and 10.0 s with Block: they starve"
                + " (3.0 times as long) while small ones take what comes free, and don't where the"
                + " first one blocks.",
            "Small Jobs waited 1.0 s with Round and 11.5 s with Block: they pay for it where the"
                + " first one blocks.",
            "With Round a Job was passed 2 times by one behind it in the queue.",
            "With Block no Job was passed by one behind it.",
            "All 3 Jobs took 33.0 s with Round, 20.0 s with Block: the CPUs that a blocked head"
                + " keeps idle cost no time here.");
    PolicyFigures reversed =
        new PolicyFigures(List.of(STARVING.policies().get(1), STARVING.policies().get(0)));
    assertThat(reversed.words().getFirst()).endsWith("this time they did not starve.");
  }

  @Test
  void aWorkloadIsTimedByWhatWasSeenOfIt() throws JsonProcessingException {
    PolicyTrial trial = new PolicyTrial();
    trial.see(workload(false, ""), START);
    trial.see(workload(false, "QuotaReserved"), START.plusSeconds(4));
    trial.see(workload(false, "QuotaReserved"), START.plusSeconds(5));
    assertThat(trial.finished("q")).isZero();
    trial.see(workload(false, "Finished"), START.plusSeconds(7));
    trial.see(workload(true, "Finished"), START.plusSeconds(8));
    assertThat(trial.finished("q")).isEqualTo(1);
    assertThat(trial.served("other")).isEmpty();
    assertThat(trial.served("q"))
        .containsExactly(
            new TrialJob(
                "q",
                4,
                100,
                START,
                START,
                Optional.of(START.plusSeconds(4)),
                Optional.of(START.plusSeconds(7))));
  }

  private static ObjectChange workload(boolean deleted, String condition)
      throws JsonProcessingException {
    return new ObjectChange(
        1,
        AuditedKind.WORKLOAD,
        deleted,
        new ObjectMapper()
            .readTree(
                """
                {"metadata": {"uid": "u", "namespace": "q", "creationTimestamp": "%s"},
                 "spec": {"priority": 100, "podSets": [{"template": {"spec": {"containers":
                   [{"resources": {"requests": {"cpu": "4"}}}]}}}]},
                 "status": {"conditions": [{"type": "%s", "status": "True"}]}}
                """
                    .formatted(START, condition)));
  }
}
