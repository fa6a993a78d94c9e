package dev.sluice.workload.writing;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Evictions that are asked for until they are done. */
class EvictionWriterTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final CachedWorkload RUNNING = workloadOf(job()).admitted("spot").get();

  private final List<JsonNode> written = new ArrayList<>();
  private Instant interval = NOW;
  private CompletableFuture<Outcome> answer = new CompletableFuture<>();
  private final EvictionWriter evictions =
      new EvictionWriter((StatusWriter) this::patchStatus, () -> NOW, () -> interval);

  private CompletableFuture<Outcome> patchStatus(
      WorkloadId id, long version, JsonNode status, WorkloadWriter.Urgency urgency) {
    written.add(status);
    return answer;
  }

  private void evict(CachedWorkload workload) {
    evictions.evict(workload, "Budget", "nothing is left");
  }

  @Test
  void areWrittenOneAtATimeOfEachWorkload() {
    evict(RUNNING);
    evict(RUNNING);
    assertThat(written).hasSize(1);
    assertThat(written.getFirst().findValuesAsText("reason")).contains("Budget");

    answer.complete(new Outcome.Conflict());
    evict(RUNNING);
    assertThat(written).hasSize(2);
  }

  @Test
  void areOfThoseWithQuotaThatAreNotEvictedYet() {
    evict(workloadOf(job()).get());
    evict(workloadOf(job()).admitted("spot").evicted("Preempted", "for another").get());
    assertThat(written).isEmpty();
  }

  /** Budgets ask twice a second, of each of their users. */
  @Test
  void thatAreRefusedRestForHalfAMinute() {
    answer.complete(new Outcome.Refused(403, "no"));
    evict(RUNNING);
    interval = NOW.plus(Duration.ofSeconds(29));
    evict(RUNNING);
    assertThat(written).hasSize(1);

    evict(workloadOf(job()).named("another").admitted("spot").get());
    assertThat(written).hasSize(2);

    interval = NOW.plus(Duration.ofSeconds(30));
    evict(RUNNING);
    assertThat(written).hasSize(3);
  }

  @Test
  void thatFailRestToo() {
    answer.completeExceptionally(new IllegalStateException("failed"));
    evict(RUNNING);
    evict(RUNNING);
    assertThat(written).hasSize(1);
  }
}
