/**
 * The webhook configurations that register the webhooks at the API server, and the check that they
 * are still as they were written. Kinds and match conditions enter. Configurations and differences
 * leave.
 */
@NullMarked
package dev.sluice.webhooks.registration;

import org.jspecify.annotations.NullMarked;
