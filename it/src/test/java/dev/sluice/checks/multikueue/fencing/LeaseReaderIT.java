package dev.sluice.checks.multikueue.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.checks.multikueue.fencing.FencingController.FenceAnnotations;
import dev.sluice.checks.multikueue.fencing.FencingController.LeaseReader;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** That a real API server says how old a renewal is, whatever the clocks of others show. */
@ControlPlaneTest
@Tag(BuildBreadth.NIGHTLY)
class LeaseReaderIT {

  private static final Duration OFF = Duration.ofHours(7);
  private static final ZonedDateTime SENT =
      ZonedDateTime.of(2001, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC);

  private final InstantSource clock = InstantSource.offset(InstantSource.system(), OFF);

  @Test
  void theAgeOfTheLastRenewalIsKnownToWhoReadsItForTheFirstTime(TestCluster cluster)
      throws IOException {
    KubernetesClient client = cluster.client();
    Resource<Lease> lease =
        client.leases().inNamespace(cluster.namespace()).withName(FenceAnnotations.lease("me"));
    client
        .leases()
        .inNamespace(cluster.namespace())
        .resource(
            new LeaseBuilder()
                .withNewMetadata()
                .withName(FenceAnnotations.lease("me"))
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity("process")
                .withRenewTime(SENT)
                .endSpec()
                .build())
        .create();
    awaitAge(Duration.ofSeconds(3), clock.instant());
    Instant before = clock.instant();
    lease.edit(
        it -> new LeaseBuilder(it).editSpec().withRenewTime(SENT.plusSeconds(1)).endSpec().build());
    Instant after = clock.instant();
    awaitAge(Duration.ofSeconds(3), after);

    LeaseReader.Reading reading = read(client, cluster);

    assertThat(reading.holder()).isEqualTo("process");
    assertThat(reading.sent()).isEqualTo(SENT.plusSeconds(1).toInstant());
    assertThat(reading.earliest()).isBefore(after).isAfter(before.minusSeconds(3));
    assertThat(reading.latest()).isAfter(before).isBefore(reading.responseTime());
  }

  private LeaseReader.Reading read(KubernetesClient client, TestCluster cluster)
      throws IOException {
    return new LeaseReader(client, cluster.namespace(), clock)
        .read(FenceAnnotations.lease("me"))
        .orElseThrow();
  }

  private void awaitAge(Duration age, Instant since) {
    await().until(() -> clock.instant().isAfter(since.plus(age)));
  }
}
