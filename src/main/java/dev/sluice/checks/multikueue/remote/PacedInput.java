package dev.sluice.checks.multikueue.remote;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** What a worker sends, read as fast as its budget allows. */
final class PacedInput extends FilterInputStream {

  private static final int CHUNK = 1 << 16;

  private final RemoteBudget budget;

  PacedInput(InputStream in, RemoteBudget budget) {
    super(in);
    this.budget = budget;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    int count = super.read(bytes, offset, Math.min(length, CHUNK));
    if (count > 0) {
      Duration pause = budget.read(count);
      if (!pause.isZero()) {
        LockSupport.parkNanos(pause.toNanos());
      }
    }
    return count;
  }
}
