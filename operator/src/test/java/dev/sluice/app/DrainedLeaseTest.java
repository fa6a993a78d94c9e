package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sluice.app.OperatorApplication.DrainedLease;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.WriteGate;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.leader.LeaseElector;
import dev.sluice.kube.leader.LeaseElector.LeaseStore;
import dev.sluice.workload.ScriptedServer;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a leader that ends releases its lease. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DrainedLeaseTest {

  private final CountDownLatch answer = new CountDownLatch(1);
  private final Store store = new Store();
  private final LeaseElector elector =
      new LeaseElector(
          new LeaseElector.Settings(
              "me", Duration.ofSeconds(15), Duration.ofSeconds(10), Duration.ofSeconds(2)),
          store,
          InstantSource.system(),
          System::nanoTime,
          new Leadership.Listener() {
            @Override
            public void started() {}

            @Override
            public void lost() {}
          });
  private final WriteGate writes = new WriteGate(elector::leading);
  private ScriptedServer server;

  /** A lease in memory that only one process writes. */
  private static final class Store implements LeaseStore {

    private volatile Optional<Lease> lease = Optional.empty();

    @Override
    public Optional<Lease> read() {
      return lease;
    }

    @Override
    public Optional<Lease> write(Lease wanted) {
      lease = Optional.of(wanted);
      return lease;
    }

    String holder() {
      return lease.orElseThrow().getSpec().getHolderIdentity();
    }
  }

  @BeforeEach
  void write() throws IOException {
    server = new ScriptedServer();
    elector.start();
    await().until(elector::leading);
    server.then(
        exchange -> {
          answer.await();
          ScriptedServer.reply(exchange, 200, "{}");
        });
  }

  @AfterEach
  void stop() {
    answer.countDown();
    server.close();
    elector.close();
  }

  private CompletableFuture<ApiOutcome> writeInFlight() {
    ApiClient client =
        new ApiClient(server.client(), ApiClient.Options.atATime(1).writingThrough(writes));
    var sent = client.send(ApiRequest.patch("/a", JsonNodeFactory.instance.objectNode()));
    await().until(() -> server.asked().size() == 1);
    return sent;
  }

  @Test
  void theLeaseIsReleasedAfterTheLastWrite() {
    var sent = writeInFlight();

    var closed =
        CompletableFuture.runAsync(
            new DrainedLease(writes, elector, Duration.ofSeconds(20))::close);
    assertThat(closed).isNotDone();
    assertThat(store.holder()).isEqualTo("me");
    answer.countDown();
    closed.join();

    assertThat(sent.join()).isInstanceOf(ApiOutcome.Written.class);
    assertThat(store.holder()).isEmpty();
  }

  @Test
  void aLeaseIsLeftToRunOutWhileAWriteIsInFlight() {
    var sent = writeInFlight();

    new DrainedLease(writes, elector, Duration.ofMillis(20)).close();

    assertThat(sent).isNotDone();
    assertThat(elector.leading()).isFalse();
    assertThat(store.holder()).isEqualTo("me");
  }
}
