/**
 * Tests of the auditor, by planting what it has to find. Histories enter that were written by hand.
 * Nothing leaves but {@link dev.sluice.cli.audit.StoreHistory}, which reads a whole history from
 * the store of a control plane.
 */
@NullMarked
package dev.sluice.lab.audit;

import org.jspecify.annotations.NullMarked;
