package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CacheSyncWaiterTest {

  @Test
  void aFailureThatIsMendedInTimeEndsNothing() throws IOException {
    AtomicInteger asked = new AtomicInteger();

    new CacheSyncWaiter(Duration.ofMinutes(2))
        .await("all kinds", () -> asked.incrementAndGet() == 3);

    assertThat(asked).hasValue(3);
  }

  @Test
  void whatIsNeverListedIsNamed() {
    CacheSyncWaiter impatient = new CacheSyncWaiter(Duration.ofMillis(1));

    assertThatThrownBy(() -> impatient.await("all kinds", () -> false))
        .isInstanceOf(IOException.class)
        .hasMessage("all kinds could not be listed within PT0.001S");
  }
}
