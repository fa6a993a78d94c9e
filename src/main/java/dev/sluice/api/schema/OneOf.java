package dev.sluice.api.schema;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The text is one of a few. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD})
public @interface OneOf {
  /** The texts that are allowed. */
  String[] value();
}
