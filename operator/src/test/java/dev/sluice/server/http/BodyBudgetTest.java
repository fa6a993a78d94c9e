package dev.sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.server.http.HttpExchangeHandler.BodyBudget;
import dev.sluice.server.http.HttpExchangeHandler.BodyBudget.OverloadException;
import dev.sluice.server.http.HttpExchangeHandler.BodyReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60) // a client that is not cut off would wait for ever
class BodyBudgetTest {

  private static final Duration LONG = Duration.ofMinutes(5);
  private static final int SMALL = BodyBudget.SMALL;

  private final BodyBudget budget = new BodyBudget(8L * SMALL);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  @Test
  void aLargeBodyLeavesTheLastQuarterToSmallOnes() throws Exception {
    try (BodyBudget.Share large = budget.open();
        BodyBudget.Share small = budget.open()) {
      assertThatThrownBy(() -> large.take(7 * SMALL, Duration.ZERO))
          .isInstanceOf(OverloadException.class);
      large.take(6 * SMALL, Duration.ZERO);
      small.take(SMALL, Duration.ZERO);
      assertThat(budget.used()).isEqualTo(7L * SMALL);
    }
    assertThat(budget.used()).isZero();
  }

  @Test
  void whoFindsNoRoomWaitsForIt() throws Exception {
    BodyBudget.Share first = budget.open();
    first.take(6 * SMALL, Duration.ZERO);
    CountDownLatch waits = new CountDownLatch(1);
    Future<?> second =
        threads.submit(
            () -> {
              try (BodyBudget.Share share = budget.open()) {
                waits.countDown();
                share.take(2 * SMALL, LONG);
              }
              return true;
            });
    waits.await();
    assertThat(second.isDone()).isFalse();
    first.close();

    assertThat(second.get()).isEqualTo(true);
  }

  @Test
  void aSmallBodyWithoutRoomEndsTheLargestTransferAndNoOther() throws Exception {
    Future<?> largest = holding(4 * SMALL);
    Future<?> other = holding(2 * SMALL);
    BodyBudget.Share filling = budget.open();
    filling.transfers(false);
    filling.take(SMALL, Duration.ZERO);
    BodyBudget.Share more = budget.open();
    more.transfers(false);
    more.take(SMALL, Duration.ZERO);

    try (BodyBudget.Share small = budget.open()) {
      small.take(1000, LONG);
    }

    assertThat(largest.get()).isEqualTo("cut");
    assertThat(other.isDone()).isFalse();
  }

  /** A client that sent so many bytes, and nothing more. */
  private Future<?> holding(int bytes) throws Exception {
    CountDownLatch taken = new CountDownLatch(1);
    Future<?> holder =
        threads.submit(
            () -> {
              try (BodyBudget.Share share = budget.open()) {
                share.take(bytes, Duration.ZERO);
                taken.countDown();
                new CountDownLatch(1).await();
                return "went on";
              } catch (InterruptedException e) {
                return "cut";
              }
            });
    taken.await();
    return holder;
  }

  @Test
  void whatIsBeingAnsweredIsNotCut() throws Exception {
    try (BodyBudget.Share share = budget.open()) {
      share.take(SMALL, Duration.ZERO);
      share.transfers(false);
      share.cut();
      assertThat(Thread.interrupted()).isFalse();

      share.transfers(true);
      share.cut();
      assertThat(Thread.interrupted()).isTrue();
      assertThatThrownBy(() -> share.transfers(false)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void aDeclaredBodyIsRefusedUnreadAndAnotherWhenItGrowsTooLarge() {
    BodyReader reader = new BodyReader(Duration.ZERO);
    InputStream none = InputStream.nullInputStream();
    InputStream endless = new Endless();
    try (BodyBudget.Share share = budget.open()) {
      assertThatThrownBy(() -> reader.read(none, 1001, 1000, share))
          .isInstanceOf(BodyReader.TooLargeException.class);
      assertThat(budget.used()).isZero();
      assertThatThrownBy(() -> reader.read(endless, -1, 3 * SMALL, share))
          .isInstanceOf(BodyReader.TooLargeException.class);
      assertThat(budget.used()).isBetween(3L * SMALL, 4L * SMALL);
    }
    try (BodyBudget.Share share = budget.open()) {
      assertThatThrownBy(() -> reader.read(endless, -1, 1000 * SMALL, share))
          .isInstanceOf(OverloadException.class);
    }
    await().until(() -> budget.used() == 0);
  }

  @Test
  void allBytesAreThereAndCanBeReadTwice() throws Exception {
    byte[] bytes = new byte[200_001];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i * 31 / 7);
    }
    for (long declared : new long[] {-1, bytes.length}) {
      try (BodyBudget.Share share = budget.open()) {
        RequestBody requestBody =
            new BodyReader(Duration.ZERO)
                .read(new ByteArrayInputStream(bytes), declared, bytes.length, share);
        assertThat(requestBody.length()).isEqualTo(bytes.length);
        assertThat(requestBody.bytes()).isEqualTo(bytes);
        assertThat(requestBody.open().readAllBytes()).isEqualTo(bytes);
        assertThat(requestBody.open().readAllBytes()).isEqualTo(bytes);
      }
    }
  }

  private static final class Endless extends InputStream {
    @Override
    public int read() {
      return '[';
    }
  }
}
