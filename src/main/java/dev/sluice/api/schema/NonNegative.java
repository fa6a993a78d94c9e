package dev.sluice.api.schema;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The quantity is zero or more. This is a bound of the schema and not a rule, because the quotas of
 * a queue are so many that a rule for each would cost more than the API server allows.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD})
public @interface NonNegative {}
