package dev.sluice.kinds;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Knows whether a method of a class failed: what the class says as a whole would only repeat it
 * then. Safe for use by several threads.
 */
final class FailedMethods implements TestWatcher {

  private volatile boolean any;

  /** Whether a method failed or was left out until now. */
  boolean any() {
    return any;
  }

  @Override
  public void testFailed(ExtensionContext context, @Nullable Throwable cause) {
    any = true;
  }

  @Override
  public void testAborted(ExtensionContext context, @Nullable Throwable cause) {
    any = true;
  }

  @Override
  public void testDisabled(ExtensionContext context, Optional<String> reason) {
    any = true;
  }
}
