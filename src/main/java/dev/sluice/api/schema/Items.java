package dev.sluice.api.schema;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What holds for each item of a list. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD})
public @interface Items {
  /** Expression that a text has to match; empty for none. */
  String pattern() default "";

  /** Most characters of a text; negative for no limit. */
  int maxLength() default -1;

  /** Least value of a number. */
  long minimum() default Long.MIN_VALUE;
}
