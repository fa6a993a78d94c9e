package dev.sluice.checks.multikueue.remote;

import static dev.sluice.checks.multikueue.remote.Stage.credentials;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.remote.RemoteBudget.RemoteLimitException;
import dev.sluice.checks.multikueue.remote.RemoteConnections.ConnectionState;
import dev.sluice.kube.client.ResponseStream.ResponseTimeoutException;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RemoteConnectionsTest {

  private final Stage stage = new Stage();
  private final RemoteConnections links = stage.links;

  private static void lasting(RemoteSession.Events events) {
    events.established();
  }

  private static Stage.Play failing(String message) {
    return events -> {
      throw new IOException(message);
    };
  }

  @Test
  void aClusterThatAnswersIsConnected() {
    stage.next(RemoteConnectionsTest::lasting);

    links.use("site", credentials("token-1"));

    assertThat(links.state("site")).contains(new ConnectionState.Connected(stage.now()));
    assertThat(links.connected()).containsExactly(Map.entry("site", true));
    assertThat(stage.told()).containsExactly("site Connected");
  }

  @Test
  void aClusterThatDoesNotAnswerIsTriedAgain() {
    Instant begin = stage.now();
    stage.next(failing("refused"));
    stage.next(failing("refused again"));
    stage.next(RemoteConnectionsTest::lasting);

    links.use("site", credentials("token-1"));
    assertThat(links.state("site"))
        .contains(
            new ConnectionState.Failing(1, begin.plusSeconds(5), "refused", Optional.of(begin)));

    stage.pass(Duration.ofSeconds(5));
    assertThat(links.state("site"))
        .contains(
            new ConnectionState.Failing(
                2, begin.plusSeconds(15), "refused again", Optional.of(begin)));

    stage.pass(Duration.ofSeconds(10));
    assertThat(links.state("site")).contains(new ConnectionState.Connected(begin.plusSeconds(15)));
  }

  @Test
  void whoBreaksAfterALongTimeIsTriedAgainSoon() {
    stage.next(failing("refused"));
    stage.next(
        events -> {
          events.established();
          stage.pass(Duration.ofHours(1));
          events.progressed();
          throw new IOException("broken");
        });

    links.use("site", credentials("token-1"));
    Instant broken = stage.now().plusSeconds(5).plus(Duration.ofHours(1));
    stage.pass(Duration.ofSeconds(5));

    assertThat(links.state("site"))
        .contains(
            new ConnectionState.Failing(1, broken.plusSeconds(5), "broken", Optional.of(broken)));
    assertThat(stage.told()).contains("probed");
  }

  @Test
  void pausesGrowWhileConnectionsBreakBeforeAnythingIsHeard() {
    Stage.Play broken =
        events -> {
          events.established();
          throw new IOException("it forgets at once what it has sent");
        };
    for (int i = 0; i < 4; i++) {
      stage.next(broken);
    }

    links.use("site", credentials("token-1"));
    stage.pass(Duration.ofSeconds(5 + 10 + 20));

    assertThat(stage.opened()).hasSize(4);
    assertThat(links.state("site").orElseThrow())
        .isInstanceOfSatisfying(
            ConnectionState.Failing.class, failing -> assertThat(failing.attempts()).isEqualTo(4));
    stage.next(RemoteConnectionsTest::lasting);
    stage.pass(Duration.ofSeconds(39));
    assertThat(stage.opened()).hasSize(4);
    stage.pass(Duration.ofSeconds(1));
    assertThat(links.connected()).containsEntry("site", true);
  }

  @Test
  void patienceGrowsOnlyWithTimeouts() {
    stage.next(
        events -> {
          throw new ResponseTimeoutException("late", new IOException("late"));
        });
    stage.next(failing("refused"));
    stage.next(RemoteConnectionsTest::lasting);

    links.use("site", credentials("token-1"));
    stage.pass(Duration.ofMinutes(1));

    assertThat(stage.patience())
        .containsExactly(Duration.ofMinutes(1), Duration.ofMinutes(2), Duration.ofMinutes(1));
  }

  @Test
  void theSameCredentialsChangeNothingAndOthersReconnect() {
    stage.next(RemoteConnectionsTest::lasting);
    stage.next(RemoteConnectionsTest::lasting);

    links.use("site", credentials("old"));
    links.use("site", credentials("old"));
    assertThat(stage.opened()).containsExactly("old");

    links.use("site", credentials("new"));
    assertThat(stage.opened()).containsExactly("old", "new");
    assertThat(links.state("site").orElseThrow()).isInstanceOf(ConnectionState.Connected.class);
  }

  @Test
  void newCredentialsDoNotWaitForTheBackOffOfOldOnesNorForgetHowLongTheClusterIsLost() {
    Instant begin = stage.now();
    for (int i = 0; i < 4; i++) {
      stage.next(failing("401"));
    }
    links.use("site", credentials("old"));
    stage.pass(Duration.ofSeconds(40));

    stage.next(failing("403"));
    links.use("site", credentials("new"));

    assertThat(stage.opened()).last().isEqualTo("new");
    assertThat(links.state("site"))
        .contains(new ConnectionState.Failing(1, begin.plusSeconds(45), "403", Optional.of(begin)));
  }

  @Test
  void aReplacedLinkIsNeverTriedAgain() {
    stage.next(failing("401"));
    stage.next(RemoteConnectionsTest::lasting);
    links.use("site", credentials("old"));
    links.use("site", credentials("new"));

    stage.pass(Duration.ofHours(1));

    assertThat(stage.opened()).containsExactly("old", "new");
  }

  @Test
  void barredClustersAreLostSinceThen() {
    stage.next(RemoteConnectionsTest::lasting);
    links.use("site", credentials("token-1"));
    stage.pass(Duration.ofMinutes(10));
    Instant barred = stage.now();

    links.deny("site");
    stage.pass(Duration.ofMinutes(1));
    links.deny("site");

    assertThat(links.state("site")).contains(new ConnectionState.Denied(Optional.of(barred)));
    assertThat(links.connected()).containsEntry("site", false);
    assertThat(stage.told()).containsOnlyOnce("site Denied");
  }

  @Test
  void whoeverFollowsAClusterIsToldThatItIsNoWorkerAnyMore() {
    stage.next(RemoteConnectionsTest::lasting);
    links.use("site", credentials("token-1"));

    links.forget("site");
    links.forget("site");

    assertThat(links.reader("site")).isEmpty();
    assertThat(stage.told()).containsExactly("site Connected", "site ?");
  }

  @Test
  void nobodyIsToldOfTheEndOfTheProcess() {
    stage.next(RemoteConnectionsTest::lasting);
    links.use("site", credentials("token-1"));

    links.close();

    assertThat(stage.told()).containsExactly("site Connected");
  }

  @Test
  void clustersFailEachForItself() {
    stage.next(RemoteConnectionsTest::lasting);
    stage.next(failing("refused"));

    links.use("good", credentials("a"));
    links.use("bad", credentials("b"));

    assertThat(links.connected()).containsExactly(Map.entry("bad", false), Map.entry("good", true));
  }

  @Test
  void whatFailsTellsNoSecret() {
    stage.next(failing("a header of value \"Bearer hunter2\"\nis wrong" + "!".repeat(1000)));

    links.use("site", credentials("hunter2"));

    assertThat(links.state("site").orElseThrow())
        .isInstanceOfSatisfying(
            ConnectionState.Failing.class,
            failing ->
                assertThat(failing.cause())
                    .startsWith("a header of value \"Bearer (secret)\" is wrong!!!")
                    .hasSizeLessThan(310));
  }

  @Test
  void anAnswerIsToldByItsMessage() {
    stage.next(failing("HTTP 401 {\"kind\":\"Status\",\"message\":\"Unauthorized\",\"code\":401}"));

    links.use("site", credentials("token-1"));

    assertThat(links.state("site").orElseThrow())
        .isInstanceOfSatisfying(
            ConnectionState.Failing.class,
            failing -> assertThat(failing.cause()).isEqualTo("HTTP 401 Unauthorized"));
  }

  private static Runnable unbuildable(String why) {
    return () -> {
      throw new KubernetesClientException(why);
    };
  }

  @Test
  void aClientThatCannotBeMadeIsTriedAgainLate() {
    Instant begin = stage.now();
    stage.opening(unbuildable("too many open files"));

    links.use("site", credentials("token-1"));
    stage.pass(Duration.ofSeconds(319));

    assertThat(links.state("site"))
        .contains(new ConnectionState.Unbuildable("too many open files", Optional.of(begin)));
    assertThat(stage.opened()).hasSize(1);

    stage.opening(() -> {});
    stage.next(RemoteConnectionsTest::lasting);
    stage.pass(Duration.ofSeconds(1));
    assertThat(links.state("site")).contains(new ConnectionState.Connected(stage.now()));
  }

  @Test
  void aClientThatNoThreadIsLeftForIsTriedAgainLate() {
    stage.opening(
        () -> {
          throw new OutOfMemoryError("unable to create native thread");
        });
    links.use("site", credentials("token-1"));
    assertThat(links.state("site").orElseThrow())
        .isInstanceOfSatisfying(
            ConnectionState.Unbuildable.class,
            unbuildable -> assertThat(unbuildable.cause()).contains("native thread"));

    stage.opening(() -> {});
    stage.next(RemoteConnectionsTest::lasting);
    stage.pass(Duration.ofSeconds(320));
    assertThat(links.connected()).containsEntry("site", true);
  }

  @Test
  void aSessionThatEndsWithAnErrorIsTriedAgain() {
    stage.next(
        events -> {
          events.established();
          throw new NoClassDefFoundError("dev/sluice/Missing");
        });
    links.use("site", credentials("token-1"));
    assertThat(links.state("site").orElseThrow())
        .isInstanceOfSatisfying(
            ConnectionState.Failing.class,
            failing -> assertThat(failing.cause()).contains("NoClassDefFoundError"));

    stage.next(RemoteConnectionsTest::lasting);
    stage.pass(Duration.ofSeconds(5));
    assertThat(links.connected()).containsEntry("site", true);
  }

  @Test
  void aClusterThatIsForgottenWhileNoClientCanBeMadeIsNotTriedAgain() {
    stage.opening(unbuildable("no such key algorithm"));
    links.use("site", credentials("token-1"));

    links.forget("site");
    stage.pass(Duration.ofHours(1));

    assertThat(stage.opened()).hasSize(1);
  }

  @Test
  void aForgottenClusterIsNotTriedAgain() {
    stage.next(failing("refused"));
    links.use("site", credentials("token-1"));

    links.forget("site");
    stage.pass(Duration.ofHours(1));

    assertThat(links.state("site")).isEmpty();
    assertThat(stage.opened()).hasSize(1);
  }

  @Test
  void aClusterThatSendsTooMuchIsCutOffAndTriedAgainLate() {
    Instant begin = stage.now();
    stage.next(
        events -> {
          throw new RemoteLimitException("workloads: a list of more than 2 pages");
        });
    stage.next(RemoteConnectionsTest::lasting);

    links.use("site", credentials("token-1"));

    assertThat(links.state("site"))
        .contains(
            new ConnectionState.Failing(
                7,
                begin.plusSeconds(320),
                "cut off: workloads: a list of more than 2 pages",
                Optional.of(begin)));
    assertThat(stage.told()).containsExactly("site Failing", "site cut off");
    stage.pass(Duration.ofSeconds(320));
    assertThat(links.state("site").orElseThrow()).isInstanceOf(ConnectionState.Connected.class);
  }
}
