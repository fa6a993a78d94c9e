package dev.sluice.server.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.server.Fakes;
import dev.sluice.server.auth.RequestAuthorizer.CachingRequestAuthorizer;
import dev.sluice.server.auth.RequestAuthorizer.Decision;
import dev.sluice.server.http.OverBudgetException;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class CachingRequestAuthorizerTest {

  private final Fakes.Clock clock = new Fakes.Clock();
  private final List<String> asked = new ArrayList<>();

  private CachingRequestAuthorizer around(RequestAuthorizer authorizer) {
    return new CachingRequestAuthorizer(
        authorizer, Duration.ofSeconds(60), Duration.ofSeconds(10), clock);
  }

  private final RequestAuthorizer authorizer =
      around(
          token -> {
            asked.add(token);
            return token.startsWith("good") ? Decision.ALLOWED : Decision.FORBIDDEN;
          });

  @Test
  void decisionsAreRememberedAndRefusalsForAShorterTime() {
    for (int i = 0; i < 3; i++) {
      assertThat(authorizer.decide("good")).isEqualTo(Decision.ALLOWED);
      assertThat(authorizer.decide("poor")).isEqualTo(Decision.FORBIDDEN);
    }
    assertThat(asked).containsExactly("good", "poor");

    clock.advance(Duration.ofSeconds(11));
    authorizer.decide("good");
    authorizer.decide("poor");
    assertThat(asked).containsExactly("good", "poor", "poor");

    clock.advance(Duration.ofSeconds(50));
    authorizer.decide("good");
    assertThat(asked).containsExactly("good", "poor", "poor", "good");
  }

  @Test
  void manyRefusedTokensDontDisplaceAnAllowedOne() {
    authorizer.decide("good");
    for (int i = 0; i < 2000; i++) {
      clock.advance(Duration.ofMillis(20));
      authorizer.decide("bad" + i, "source" + i);
    }
    asked.clear();

    authorizer.decide("good");
    authorizer.decide("bad1999");
    assertThat(asked).isEmpty();

    authorizer.decide("bad1");
    assertThat(asked).containsExactly("bad1");
  }

  private int refused(int count, String source) {
    int refused = 0;
    for (int i = 0; i < count; i++) {
      try {
        authorizer.decide("forged" + asked.size() + "-" + i, source);
      } catch (OverBudgetException e) {
        refused++;
      }
    }
    return refused;
  }

  @Test
  void forgedTokensOfOneSourceAreAskedAFewTimesASecond() {
    assertThat(refused(10_000, "10.0.0.1")).isEqualTo(10_000 - 20);
    for (int i = 0; i < 60; i++) {
      clock.advance(Duration.ofSeconds(1));
      refused(1000, "10.0.0.1");
    }

    assertThat(asked).hasSize(20 + 60 * 5);
  }

  @Test
  void forgedTokensDontKeepHonestOnesOut() {
    authorizer.decide("good-scraper", "10.0.0.1");
    assertThat(refused(10_000, "10.0.0.1")).isPositive();
    authorizer.decide("good-of-another", "10.0.0.2");
    // all sources together
    for (int i = 0; i < 100; i++) {
      refused(100, "10.1.0." + i);
    }
    assertThat(asked).hasSizeLessThanOrEqualTo(50);
    asked.clear();

    clock.advance(Duration.ofSeconds(61));
    for (int i = 0; i < 100; i++) {
      refused(100, "10.2.0." + i);
    }
    asked.clear();
    // what was accepted the last time is asked again though the budget is spent
    assertThat(authorizer.decide("good-scraper", "10.0.0.1")).isEqualTo(Decision.ALLOWED);
    assertThat(authorizer.decide("good-of-another", "10.0.0.2")).isEqualTo(Decision.ALLOWED);
    assertThat(asked).containsExactly("good-scraper", "good-of-another");
    assertThatThrownBy(() -> authorizer.decide("new", "10.0.0.3"))
        .isInstanceOfSatisfying(
            OverBudgetException.class,
            e -> {
              assertThat(e.response().status()).isEqualTo(429);
              assertThat(e.response().headers()).containsEntry("Retry-After", "1");
            });
  }

  @Test
  void noMoreThanAFewQuestionsAreAskedAtATime() throws Exception {
    CountDownLatch begun = new CountDownLatch(8);
    CountDownLatch answered = new CountDownLatch(1);
    RequestAuthorizer slow =
        around(
            token -> {
              begun.countDown();
              try {
                answered.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
              return Decision.UNAUTHENTICATED;
            });
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 8; i++) {
        String token = "token" + i;
        threads.execute(() -> slow.decide(token));
      }
      begun.await();

      assertThatThrownBy(() -> slow.decide("one more"))
          .isInstanceOf(KubernetesClientException.class)
          .hasMessageContaining("too many access reviews");
      answered.countDown();
    }
  }

  @Test
  void aTokenThatIsTooLongIsRefusedUnasked() {
    assertThat(authorizer.decide("good".repeat(10_000))).isEqualTo(Decision.UNAUTHENTICATED);
    assertThat(asked).isEmpty();
  }
}
