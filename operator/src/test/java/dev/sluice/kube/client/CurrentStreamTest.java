package dev.sluice.kube.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.kube.client.ResponseStream.ConnectionLostException;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CurrentStreamTest {

  private final CurrentStream stream =
      new CurrentStream(Duration.ofMinutes(1), InstantSource.system());
  private final AtomicInteger sent = new AtomicInteger();

  private ResponseStream lose() throws ConnectionLostException {
    throw new ConnectionLostException("lost " + sent.incrementAndGet(), new IOException("broken"));
  }

  @Test
  void aRequestWhoseConnectionIsLostIsSentOnceMore() {
    assertThatThrownBy(() -> stream.open(this::lose)).hasMessage("lost 2");
    assertThat(sent).hasValue(2);
  }

  @Test
  void aRequestThatFailsOtherwiseIsSentOnce() {
    assertThatThrownBy(
            () ->
                stream.open(
                    () -> {
                      throw new IOException("failed " + sent.incrementAndGet());
                    }))
        .hasMessage("failed 1");
    assertThat(sent).hasValue(1);
  }

  @Test
  void nothingIsSentAgainAfterClosing() {
    stream.close();

    assertThatThrownBy(() -> stream.open(this::lose)).hasMessage("lost 1");
    assertThat(sent).hasValue(1);
  }
}
