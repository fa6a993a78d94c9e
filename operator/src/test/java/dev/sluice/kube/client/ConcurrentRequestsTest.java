package dev.sluice.kube.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ConcurrentRequestsTest {

  @Test
  void requestsAreUnderWayAtTheSameTime() {
    CyclicBarrier all = new CyclicBarrier(3);
    Runnable request = () -> await(all);

    ConcurrentRequests.run(List.of(request, request, request));

    assertThat(all.getNumberWaiting()).isZero();
  }

  @Test
  void theFirstFailureIsThrownWhenAllHaveEnded() {
    CyclicBarrier all = new CyclicBarrier(2);
    IllegalStateException first = new IllegalStateException("first");
    IllegalStateException second = new IllegalStateException("second");

    assertThatThrownBy(
            () ->
                ConcurrentRequests.run(
                    List.of(() -> failed(all, first), () -> failed(all, second))))
        .isSameAs(first)
        .hasSuppressedException(second);
  }

  @Test
  void aResultIsWaitedFor() {
    CyclicBarrier both = new CyclicBarrier(2);
    Supplier<String> result =
        ConcurrentRequests.begin(
            () -> {
              await(both);
              return "answer";
            });
    await(both);

    assertThat(result.get()).isEqualTo("answer");
  }

  private static void failed(CyclicBarrier barrier, RuntimeException failure) {
    await(barrier);
    throw failure;
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new AssertionError(e);
    }
  }
}
