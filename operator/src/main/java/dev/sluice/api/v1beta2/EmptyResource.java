package dev.sluice.api.v1beta2;

import io.fabric8.kubernetes.client.CustomResource;
import org.jspecify.annotations.Nullable;

/**
 * An object of which a new one has neither specification nor status.
 *
 * @param <S> the type of the specification
 * @param <T> the type of the status
 */
public abstract class EmptyResource<S, T> extends CustomResource<S, T> {

  /** Nothing is said about a new object until its specification is set. */
  @Override
  protected @Nullable S initSpec() {
    return null;
  }

  /** A new object has no status. */
  @Override
  protected @Nullable T initStatus() {
    return null;
  }
}
