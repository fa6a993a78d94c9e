package dev.sluice.kube.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.kube.leader.LeaseElector.LeaseStore;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SharedObjectsGuardTest {

  private static final String OTHER = "kueue-controller-manager-6c9f8b7d5-x2x9k_1f3c7a52";

  private Optional<Lease> lease = Optional.empty();
  private final AtomicLong nanos = new AtomicLong();
  private final LeaseStore store =
      new LeaseStore() {
        @Override
        public Optional<Lease> read() {
          return lease;
        }

        @Override
        public Optional<Lease> write(Lease written) {
          throw new AssertionError("a guard writes no lease");
        }
      };
  private final SharedObjectsGuard guard =
      new SharedObjectsGuard(store, nanos::get, Duration.ofSeconds(15));

  private void heldBy(String holder, String annotation, String version) {
    lease =
        Optional.of(
            new LeaseBuilder()
                .withNewMetadata()
                .withResourceVersion(version)
                .addToAnnotations(SharedObjectsGuard.HOLDER, annotation)
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity(holder)
                .withLeaseDurationSeconds(10)
                .endSpec()
                .build());
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Test
  void withoutALeaseOrAHolderItMayBeWritten() {
    assertThatCode(guard::check).doesNotThrowAnyException();
    heldBy("", "", "1");
    assertThatCode(guard::check).doesNotThrowAnyException();
  }

  @Test
  void aHolderHoldsForAsLongAsItsLastRenewalBinds() {
    Instant renewed = Instant.parse("2026-01-01T00:00:00Z");
    Duration assumed = Duration.ofSeconds(15);
    heldBy(OTHER, "", "1");
    Lease held = lease.orElseThrow();
    assertThat(SharedObjectsGuard.holderAt(renewed, held, assumed)).as("never renewed").isEmpty();
    held.getSpec().setRenewTime(renewed.atZone(ZoneOffset.UTC));
    assertThat(SharedObjectsGuard.holderAt(renewed.plusSeconds(10), held, assumed)).contains(OTHER);
    assertThat(SharedObjectsGuard.holderAt(renewed.plusSeconds(11), held, assumed)).isEmpty();
    held.getSpec().setLeaseDurationSeconds(null);
    assertThat(SharedObjectsGuard.holderAt(renewed.plusSeconds(15), held, assumed)).contains(OTHER);
    held.getSpec().setHolderIdentity("");
    assertThat(SharedObjectsGuard.holderAt(renewed, held, assumed)).as("given up").isEmpty();
  }

  @Test
  void replicasOfSluiceShare() {
    heldBy("pod_1", "pod_1", "1");
    assertThatCode(guard::check).doesNotThrowAnyException();
  }

  @Test
  void whoIsNoOperatorIsKeptBySluiceToo() {
    SharedObjectsGuard any =
        SharedObjectsGuard.againstAnyOperator(store, nanos::get, Duration.ofSeconds(15));
    heldBy("pod_1", "pod_1", "1");
    assertThatThrownBy(any::check)
        .isInstanceOfSatisfying(
            SharedObjectsGuard.HeldByOtherException.class,
            held -> assertThat(held.holder()).isEqualTo("pod_1"));
    pass(Duration.ofSeconds(11));
    assertThatCode(any::check).as("it didn't renew the lease").doesNotThrowAnyException();
    heldBy("", "pod_1", "2");
    assertThatCode(any::check).as("it gave the lease up").doesNotThrowAnyException();
  }

  @Test
  void anotherOperatorIsLeftAloneWhileItRenews() {
    heldBy(OTHER, "", "1");
    for (int version = 1; version < 20; version++) {
      heldBy(OTHER, "", Integer.toString(version));
      assertThatThrownBy(guard::check)
          .isInstanceOf(SharedObjectsGuard.HeldByOtherException.class)
          .hasMessageContaining(OTHER);
      pass(Duration.ofSeconds(9));
    }
  }

  @Test
  void oneThatTookTheLeaseFromSluiceIsAnother() {
    heldBy(OTHER, "pod_1", "1");
    assertThatThrownBy(guard::check).isInstanceOf(SharedObjectsGuard.HeldByOtherException.class);
  }

  @Test
  void oneThatIsGoneBindsAsLongAsItPromised() {
    heldBy(OTHER, "", "1");
    assertThatThrownBy(guard::check).isInstanceOf(SharedObjectsGuard.HeldByOtherException.class);
    pass(Duration.ofSeconds(10));
    assertThatThrownBy(guard::check).isInstanceOf(SharedObjectsGuard.HeldByOtherException.class);
    pass(Duration.ofMillis(1));
    assertThatCode(guard::check).doesNotThrowAnyException();
  }

  @Test
  void whoWaitsIsToldAsSoonAsTheHolderIsSeenAlive() {
    heldBy(OTHER, "", "1");
    assertThatThrownBy(guard::check)
        .isInstanceOfSatisfying(
            SharedObjectsGuard.HeldByOtherException.class,
            e -> assertThat(e.isRenewed()).isFalse());
    heldBy(OTHER, "", "2");
    assertThatThrownBy(() -> guard.await(Duration.ofDays(1)))
        .isInstanceOfSatisfying(
            SharedObjectsGuard.HeldByOtherException.class, e -> assertThat(e.isRenewed()).isTrue());
  }
}
