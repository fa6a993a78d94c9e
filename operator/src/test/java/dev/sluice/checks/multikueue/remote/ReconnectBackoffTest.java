package dev.sluice.checks.multikueue.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.remote.RemoteCollection.ReconnectBackoff;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReconnectBackoffTest {

  @Test
  void pausesDoubleFromFiveSecondsUpTo320() {
    ReconnectBackoff reconnectBackoff = ReconnectBackoff.none();
    List<Long> pauses = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      reconnectBackoff = reconnectBackoff.failed(false);
      pauses.add(reconnectBackoff.pause().toSeconds());
    }

    assertThat(pauses).containsExactly(5L, 10L, 20L, 40L, 80L, 160L, 320L, 320L, 320L);
  }

  @Test
  void patienceGrowsWithEachTimeoutUpToTenMinutes() {
    ReconnectBackoff reconnectBackoff = ReconnectBackoff.none();
    List<Long> patience = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      patience.add(reconnectBackoff.timeout().toMinutes());
      reconnectBackoff = reconnectBackoff.failed(true);
    }

    assertThat(patience).containsExactly(1L, 2L, 4L, 8L, 10L, 10L, 10L);
    assertThat(reconnectBackoff.failed(false).timeout()).hasMinutes(1);
  }
}
