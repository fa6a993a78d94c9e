package dev.sluice.lab.demo;

import java.io.PrintWriter;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Says what is being done until it is closed, and, when that lasts, for how long already: on a
 * terminal in the same line each second, elsewhere in a line of its own each ten seconds.
 */
final class StepTimer implements AutoCloseable {

  private static final long FIRST_WORD = 2;
  private static final long PAUSE = 10;

  /** The characters of ", 9999 s": a line that doesn't fit can't be written anew in place. */
  private static final int LONGEST_TIME = 8;

  private final PrintWriter out;
  private final String what;
  private final boolean inPlace;
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private long seconds;

  private StepTimer(PrintWriter out, String what, boolean inPlace) {
    this.out = out;
    this.what = what;
    this.inPlace = inPlace;
    out.print(what + (inPlace ? "" : System.lineSeparator()));
    out.flush();
    var unused = timer.scheduleAtFixedRate(this::tick, 1, 1, TimeUnit.SECONDS);
  }

  /** Says it, and goes on until it is closed. */
  static StepTimer of(PrintWriter out, String what) {
    boolean inPlace = TerminalSize.isTerminal();
    return new StepTimer(
        out, inPlace ? TerminalSize.now().fitting(what, LONGEST_TIME) : what, inPlace);
  }

  private synchronized void tick() {
    seconds++;
    if (inPlace && seconds >= FIRST_WORD) {
      out.printf("\r%s, %d s", what, seconds);
    } else if (!inPlace && seconds % PAUSE == 0) {
      out.printf("%s, %d s%n", what, seconds);
    }
    out.flush();
  }

  @Override
  public void close() {
    timer.shutdownNow();
    synchronized (this) {
      if (inPlace) {
        out.println();
      }
      out.flush();
    }
  }
}
