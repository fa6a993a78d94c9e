package dev.sluice.server.endpoints;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.server.Fakes;
import dev.sluice.server.http.OverBudgetException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What clients ask, as it reaches the engine. */
class SharedPositionsTest implements SchedulerQueries, SchedulerViews {

  private static final LocalQueueId ODD = new LocalQueueId("n", "odd");

  private final Fakes.Clock clock = new Fakes.Clock();
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final List<CompletableFuture<?>> held = new CopyOnWriteArrayList<>();
  private final SharedPositions shared = new SharedPositions(this, this, clock);
  private volatile List<PendingPosition> positions = positions(10);
  private volatile boolean holds;

  private static List<PendingPosition> positions(int count) {
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                new PendingPosition(
                    new WorkloadId("uid" + i, "n", "w" + i),
                    i % 2 == 0 ? "even" : "odd",
                    0,
                    Instant.EPOCH,
                    i,
                    i / 2,
                    false))
        .toList();
  }

  private <T> CompletableFuture<T> answer(String question, T answer) {
    asked.add(question);
    CompletableFuture<T> result = new CompletableFuture<>();
    if (holds) {
      held.add(result);
    } else {
      result.complete(answer);
    }
    return result;
  }

  @Override
  public CompletableFuture<Optional<List<PendingPosition>>> pendingInClusterQueue(
      String clusterQueue, int offset, int limit) {
    assertThat(offset).isZero();
    assertThat(limit).isEqualTo(Integer.MAX_VALUE);
    return answer(
        clusterQueue, clusterQueue.equals("cq") ? Optional.of(positions) : Optional.empty());
  }

  @Override
  public CompletableFuture<Optional<List<PendingPosition>>> pendingInLocalQueue(
      LocalQueueId queue, int offset, int limit) {
    return answer(queue.name(), Optional.of(List.of()));
  }

  @Override
  public CompletableFuture<Optional<PendingReport>> pendingReason(WorkloadId id) {
    return answer(id.name(), Optional.empty());
  }

  @Override
  public CompletableFuture<List<PendingExplanation>> unreportedExplanations(int max) {
    throw new IllegalStateException("not asked here");
  }

  @Override
  public Optional<LocalQueueView> localQueue(LocalQueueId id) {
    return switch (id.name()) {
      case "odd", "even" -> Optional.of(view(id, "cq"));
      case "lost" -> Optional.of(view(id, "gone"));
      default -> Optional.empty();
    };
  }

  private static LocalQueueView view(LocalQueueId id, String clusterQueue) {
    return new LocalQueueView(id, clusterQueue, List.of(), 0, 0, 0, 0, List.of());
  }

  @Override
  public Optional<ClusterQueueView> clusterQueue(String name) {
    return Optional.empty();
  }

  @Override
  public Optional<CohortView> cohort(String name) {
    return Optional.empty();
  }

  @Override
  public Collection<ClusterQueueView> clusterQueues() {
    return List.of();
  }

  @Override
  public Collection<LocalQueueView> localQueues() {
    return List.of();
  }

  @Override
  public Collection<CohortView> cohorts() {
    return List.of();
  }

  private static List<String> names(CompletableFuture<Optional<List<PendingPosition>>> answer) {
    return answer.join().orElseThrow().stream().map(each -> each.id().name()).toList();
  }

  @Test
  void thousandsOfPagesAreOneQuestion() {
    for (int i = 0; i < 8200; i++) {
      assertThat(shared.pendingInClusterQueue("cq", 3, 2).join().orElseThrow()).hasSize(2);
    }

    assertThat(asked).containsExactly("cq");
  }

  @Test
  void pagesOfBothKindsAreCutFromTheSamePositions() {
    assertThat(names(shared.pendingInClusterQueue("cq", 3, 2))).containsExactly("w3", "w4");
    assertThat(names(shared.pendingInClusterQueue("cq", 9, 100))).containsExactly("w9");
    assertThat(names(shared.pendingInClusterQueue("cq", 50, 100))).isEmpty();
    assertThat(shared.pendingInLocalQueue(ODD, 1, 2).join().orElseThrow())
        .extracting(PendingPosition::inClusterQueue, PendingPosition::inLocalQueue)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(3, 1), org.assertj.core.groups.Tuple.tuple(5, 2));
    assertThat(asked).containsExactly("cq");
  }

  @Test
  void whatIsOldIsAskedAgain() {
    shared.pendingInClusterQueue("cq", 0, 1).join();
    positions = positions(3);
    clock.advance(Duration.ofMillis(100));

    assertThat(names(shared.pendingInClusterQueue("cq", 0, 100))).hasSize(3);
    assertThat(asked).containsExactly("cq", "cq");
  }

  @Test
  void longQueuesAreSharedForLonger() {
    assertThat(SharedPositions.age(0)).isEqualTo(Duration.ofMillis(100));
    assertThat(SharedPositions.age(100_000)).isEqualTo(Duration.ofSeconds(1));
    assertThat(SharedPositions.age(100_000_000)).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void queuesThatDontExistAreUnknown() {
    assertThat(shared.pendingInClusterQueue("other", 0, 1).join()).isEmpty();
    assertThat(shared.pendingInLocalQueue(new LocalQueueId("n", "other"), 0, 1).join()).isEmpty();
    assertThat(names(shared.pendingInLocalQueue(new LocalQueueId("n", "lost"), 0, 1))).isEmpty();
    assertThat(asked).containsExactly("other", "gone", "lost");
  }

  @Test
  void oneQuestionIsUnderWayAtATimeAndOnlySoManyWait() {
    holds = true;
    List<CompletableFuture<Optional<PendingReport>>> answers = new ArrayList<>();
    for (int i = 0; i < 101; i++) {
      answers.add(shared.pendingReason(new WorkloadId("u", "n", "w" + i)));
    }

    assertThat(asked).containsExactly("w0");
    assertThatThrownBy(() -> shared.pendingReason(new WorkloadId("u", "n", "one-more")))
        .isInstanceOf(OverBudgetException.class);

    // who doesn't wait any longer is left out
    answers.subList(1, 100).forEach(answer -> answer.cancel(false));
    holds = false;
    held.forEach(first -> first.cancel(false));
    await().until(() -> asked.equals(List.of("w0", "w100")));
    assertThat(answers.getLast().join()).isEmpty();
  }

  @Test
  void aQuestionThatFailsIsAskedAgain() {
    holds = true;
    var first = shared.pendingInClusterQueue("cq", 0, 1);
    held.forEach(each -> each.completeExceptionally(new IllegalStateException("a bug")));
    assertThatThrownBy(first::join).hasRootCauseMessage("a bug");
    holds = false;

    assertThat(names(shared.pendingInClusterQueue("cq", 0, 1))).containsExactly("w0");
  }
}
