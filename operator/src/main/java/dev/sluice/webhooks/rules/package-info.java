/**
 * Defaults and validation that several kinds share. Parts of objects and facts about the cluster
 * enter. Errors of fields, warnings and patches leave.
 */
@NullMarked
package dev.sluice.webhooks.rules;

import org.jspecify.annotations.NullMarked;
