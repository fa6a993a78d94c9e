package dev.sluice.app;

import dev.sluice.core.model.Decision;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Leads decisions to whoever carries them out, who is made after the engine because he needs it.
 */
final class DecisionRelay implements Consumer<Decision> {

  private volatile @Nullable Consumer<Decision> target;

  /** To be called once, before the engine starts. */
  void connect(Consumer<Decision> who) {
    target = who;
  }

  @Override
  public void accept(Decision decision) {
    Consumer<Decision> who = target;
    if (who == null) {
      throw new IllegalStateException("nobody carries out " + decision);
    }
    who.accept(decision);
  }
}
