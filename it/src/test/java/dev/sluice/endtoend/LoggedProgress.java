package dev.sluice.endtoend;

import dev.sluice.lab.demo.ExpectationResult;
import dev.sluice.lab.demo.ProgressListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says in the log of the tests what a demo shows. */
final class LoggedProgress implements ProgressListener {

  private static final Logger LOG = LoggerFactory.getLogger(LoggedProgress.class);

  @Override
  public void say(String line) {
    LOG.info("{}", line);
  }

  @Override
  public void waits(String what) {
    if (!what.isEmpty()) {
      LOG.info("waits for {}", what);
    }
  }

  @Override
  public void judged(ExpectationResult expectationResult) {
    LOG.info("{}", expectationResult);
  }
}
