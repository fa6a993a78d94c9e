package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.sluice.app.module.InstallationModule.RegistrationReadiness;
import dev.sluice.install.RegistrationRepair.Finding;
import dev.sluice.kube.leader.LeaseElector.LeaseStore;
import dev.sluice.kube.leader.SharedObjectsGuard;
import dev.sluice.kube.leader.SharedObjectsGuard.HeldByOtherException;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RegistrationReadinessTest {

  private final RegistrationReadiness readiness = new RegistrationReadiness();

  @Test
  void aRepairThatFailsAfterAStartThatCheckedNothingIsNoReadiness() {
    readiness.leaveUnchecked();
    readiness.failed(held());
    assertThat(readiness.isReady())
        .as("the other leads, and the registrations are its own")
        .isTrue();
    readiness.failed(new KubernetesClientException("no answer", new IOException("refused")));
    assertThat(readiness.isReady()).as("nobody was asked").isTrue();

    readiness.failed(forbidden());
    assertThat(readiness.isReady()).isFalse();
    readiness.failed(held());
    assertThat(readiness.isReady()).as("still lacking").isFalse();

    readiness.found(new Finding(List.of("rule"), List.of(), false, true));
    assertThat(readiness.isReady()).as("put right").isTrue();
    readiness.failed(forbidden());
    assertThat(readiness.isReady()).as("everything was there before").isTrue();
  }

  @Test
  void whatTheStartCheckedIsUnreadyOnlyWithoutARegistration() {
    readiness.failed(forbidden());
    readiness.found(new Finding(List.of("rule"), List.of(), false, false));
    assertThat(readiness.isReady()).isTrue();
    readiness.found(new Finding(List.of("all"), List.of(), true, false));
    assertThat(readiness.isReady()).isFalse();
    readiness.found(new Finding(List.of(), List.of(), false, false));
    assertThat(readiness.isReady()).isTrue();
  }

  private static KubernetesClientException forbidden() {
    return new KubernetesClientException("may not be patched", 403, null);
  }

  private static HeldByOtherException held() {
    LeaseStore store =
        new LeaseStore() {
          @Override
          public Optional<Lease> read() {
            return Optional.of(
                new LeaseBuilder()
                    .withNewMetadata()
                    .withResourceVersion("1")
                    .endMetadata()
                    .withNewSpec()
                    .withHolderIdentity("another")
                    .endSpec()
                    .build());
          }

          @Override
          public Optional<Lease> write(Lease written) {
            throw new AssertionError("a guard writes no lease");
          }
        };
    return catchThrowableOfType(
        HeldByOtherException.class,
        new SharedObjectsGuard(store, () -> 0, Duration.ofSeconds(15))::check);
  }
}
