package dev.sluice.kube.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.kube.leader.LeaseElector.LeaseStore;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The election, turn by turn, on clocks that the test moves. */
class LeaseElectorTest {

  private static final Duration LEASE = Duration.ofSeconds(15);
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final Duration RETRY = Duration.ofSeconds(2);

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000);
  private final AtomicReference<Instant> wall =
      new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
  private final Store store = new Store();
  private final List<String> told = new ArrayList<>();
  private final List<LeaseElector> electors = new ArrayList<>();
  private final LeaseElector a = elector("a");
  private final LeaseElector b = elector("b");

  /** A lease in memory, replaced only in the version that is named. */
  private static final class Store implements LeaseStore {

    private Optional<Lease> lease = Optional.empty();
    private long version;
    private boolean broken;
    private boolean exhausted;
    private final List<Consumer<Lease>> watchers = new CopyOnWriteArrayList<>();

    @Override
    public AutoCloseable watch(Consumer<Lease> changed) {
      watchers.add(changed);
      return () -> watchers.remove(changed);
    }

    @Override
    public Optional<Lease> read() {
      check();
      return lease;
    }

    @Override
    public Optional<Lease> write(Lease wanted) {
      check();
      String standing = lease.map(it -> it.getMetadata().getResourceVersion()).orElse("");
      String named = wanted.getMetadata().getResourceVersion();
      if (!standing.equals(named == null ? "" : named)) {
        return Optional.empty();
      }
      version++;
      lease =
          Optional.of(
              new LeaseBuilder(wanted)
                  .editMetadata()
                  .withResourceVersion(Long.toString(version))
                  .endMetadata()
                  .build());
      watchers.forEach(watcher -> watcher.accept(lease.orElseThrow()));
      return lease;
    }

    private void check() {
      if (broken) {
        throw new IllegalStateException("not reachable");
      }
      if (exhausted) {
        throw new NoClassDefFoundError("no file can be opened");
      }
    }

    String holder() {
      return lease.orElseThrow().getSpec().getHolderIdentity();
    }
  }

  private LeaseElector elector(String identity) {
    return elector(new LeaseElector.Settings(identity, LEASE, DEADLINE, RETRY));
  }

  private LeaseElector elector(LeaseElector.Settings settings) {
    String identity = settings.identity();
    LeaseElector elector =
        new LeaseElector(
            settings,
            store,
            wall::get,
            nanos::get,
            new Leadership.Listener() {
              @Override
              public void started() {
                told.add(identity + " leads");
              }

              @Override
              public void lost() {
                told.add(identity + " lost");
              }
            });
    electors.add(elector);
    return elector;
  }

  @AfterEach
  void stop() {
    electors.forEach(LeaseElector::close);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
    wall.updateAndGet(now -> now.plus(time));
  }

  @Test
  void theFirstOneTakesTheLeaseAndTheOtherFollows() {
    assertThat(a.turn()).isEqualTo(RETRY);
    assertThat(b.turn()).isEqualTo(RETRY);

    assertThat(a.leading()).isTrue();
    assertThat(b.leading()).isFalse();
    assertThat(store.holder()).isEqualTo("a");
    assertThat(told).containsExactly("a leads");
  }

  @Test
  void aLeaderThatRenewsGoesOnLeading() {
    for (int turn = 0; turn < 30; turn++) {
      assertThat(a.turn()).isEqualTo(RETRY);
      var unused = b.turn();
      pass(RETRY);
      assertThat(a.leading()).isTrue();
    }

    assertThat(told).containsExactly("a leads");
    assertThat(store.lease.orElseThrow().getSpec().getLeaseTransitions()).isZero();
    assertThat(store.lease.orElseThrow().getSpec().getAcquireTime().toInstant())
        .isEqualTo(Instant.parse("2026-01-01T00:00:00Z"));
    assertThat(store.lease.orElseThrow().getSpec().getRenewTime().toInstant())
        .isEqualTo(Instant.parse("2026-01-01T00:00:58Z"));
  }

  @Test
  void aLeaderThatCannotRenewHasLostAtItsDeadlineBeforeAnyoneElseLeads() {
    var unused = a.turn();
    unused = b.turn();
    store.broken = true;

    pass(DEADLINE.minusMillis(1));
    unused = a.turn();
    assertThat(a.leading()).isTrue();

    pass(Duration.ofMillis(1));
    assertThat(a.leading()).isFalse();
    unused = a.turn();
    assertThat(told).containsExactly("a leads", "a lost");

    store.broken = false;
    unused = b.turn();
    assertThat(b.leading()).isFalse();
    pass(LEASE.minus(DEADLINE));
    unused = b.turn();
    assertThat(b.leading()).isTrue();
    assertThat(told).containsExactly("a leads", "a lost", "b leads");
    assertThat(store.lease.orElseThrow().getSpec().getLeaseTransitions()).isEqualTo(1);
  }

  @Test
  void aFollowerLooksAgainAfterALookThatEndedWithAnError() {
    store.exhausted = true;
    assertThat(b.turn()).isEqualTo(RETRY);
    store.exhausted = false;
    var unused = b.turn();
    assertThat(b.leading()).isTrue();
  }

  @Test
  void whoeverHasLostNeverLeadsAgain() {
    var unused = a.turn();
    pass(DEADLINE);
    unused = a.turn();
    assertThat(a.leading()).isFalse();

    unused = a.turn();
    pass(LEASE.multipliedBy(2));
    unused = a.turn();

    assertThat(a.leading()).isFalse();
    assertThat(told).containsExactly("a leads", "a lost");
  }

  @Test
  void aFollowerCountsFromItsOwnLastLookAtAChange() {
    var unused = a.turn();
    pass(LEASE.multipliedBy(3));

    unused = b.turn();
    assertThat(b.leading()).as("seen for the first time").isFalse();

    pass(LEASE.minusMillis(1));
    assertThat(b.turn()).as("looks again just after it ends").isLessThan(RETRY);
    assertThat(b.leading()).isFalse();
    pass(Duration.ofMillis(1));
    unused = b.turn();
    assertThat(b.leading()).isTrue();
  }

  @Test
  void aLeaderThatWasReplacedHasLost() {
    var unused = a.turn();
    store.lease =
        Optional.of(
            new LeaseBuilder(store.lease.orElseThrow())
                .editMetadata()
                .withResourceVersion("77")
                .endMetadata()
                .editSpec()
                .withHolderIdentity("b")
                .endSpec()
                .build());

    unused = a.turn();

    assertThat(a.leading()).isFalse();
    assertThat(told).containsExactly("a leads", "a lost");
  }

  @Test
  void aLeaderWhoseRenewalWasWrittenUnseenRenewsAgain() {
    var unused = a.turn();
    store.lease =
        Optional.of(
            new LeaseBuilder(store.lease.orElseThrow())
                .editMetadata()
                .withResourceVersion("77")
                .endMetadata()
                .build());

    assertThat(a.turn()).isLessThan(RETRY);
    assertThat(a.turn()).isEqualTo(RETRY);

    assertThat(a.leading()).isTrue();
    assertThat(told).containsExactly("a leads");
  }

  @Test
  void aLeaderThatEndsReleasesTheLeaseAndTheNextTakesItAtOnce() {
    var unused = a.turn();
    unused = b.turn();

    a.close();
    assertThat(a.leading()).isFalse();
    assertThat(store.holder()).isEmpty();
    unused = b.turn();

    assertThat(b.leading()).isTrue();
    assertThat(told).containsExactly("a leads", "b leads");
  }

  @Test
  void aFollowerTakesALeaseThatIsReleasedBeforeItsNextLook() {
    var unused = a.turn();
    Duration never = Duration.ofDays(1);
    LeaseElector patient =
        elector(
            new LeaseElector.Settings(
                "patient", never.multipliedBy(3), never.multipliedBy(2), never));
    patient.start();
    await().until(() -> !store.watchers.isEmpty());
    unused = a.turn();
    assertThat(patient.leading()).as("a renewal is no reason to look").isFalse();

    a.close();

    await().until(patient::leading);
    assertThat(store.holder()).isEqualTo("patient");
    await().untilAsserted(() -> assertThat(store.watchers).as("a leader watches").isEmpty());
  }

  @Test
  void aFollowerThatEndsLeavesTheLeaseAlone() {
    var unused = a.turn();
    unused = b.turn();

    b.close();

    assertThat(store.holder()).isEqualTo("a");
    assertThat(a.leading()).isTrue();
  }

  @Test
  void jumpsOfTheWallClockChangeNothing() {
    var unused = a.turn();
    unused = b.turn();
    for (Duration jump : List.of(Duration.ofDays(400), Duration.ofDays(-900))) {
      wall.updateAndGet(now -> now.plus(jump));
      unused = b.turn();
      assertThat(a.leading()).isTrue();
      assertThat(b.leading()).isFalse();
      unused = a.turn();
      assertThat(a.leading()).isTrue();
    }
    assertThat(told).containsExactly("a leads");
  }

  @Test
  void settingsThatCannotWorkAreRefused() {
    assertThatThrownBy(() -> new LeaseElector.Settings("a", LEASE, LEASE, RETRY))
        .hasMessageContaining("renewDeadline");
    assertThatThrownBy(() -> new LeaseElector.Settings("a", LEASE, DEADLINE, DEADLINE))
        .hasMessageContaining("retryPeriod");
  }
}
