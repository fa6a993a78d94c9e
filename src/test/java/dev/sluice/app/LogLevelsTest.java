package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.workload.DecisionLog;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LogLevelsTest {

  @Test
  void decisionsCanBeTurnedOffAlone() {
    boolean others = LoggerFactory.getLogger(LogLevels.class).isErrorEnabled();
    try {
      LogLevels.decisions(false);

      assertThat(LoggerFactory.getLogger(DecisionLog.NAME).isErrorEnabled()).isFalse();
      assertThat(LoggerFactory.getLogger(LogLevels.class).isErrorEnabled()).isEqualTo(others);
    } finally {
      LogLevels.decisions(true);
    }
    assertThat(LoggerFactory.getLogger(DecisionLog.NAME).isErrorEnabled()).isEqualTo(others);
  }
}
