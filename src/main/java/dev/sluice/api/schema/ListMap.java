package dev.sluice.api.schema;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Items of the list are told apart by the values of some of their fields, and server-side apply
 * merges them by these.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD})
public @interface ListMap {
  /** Names of the fields that make up the key. */
  String[] value();
}
