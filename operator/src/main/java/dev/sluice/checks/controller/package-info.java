/**
 * What every controller of AdmissionChecks is made of: the interface that answers for checks and
 * Workloads, and what writes the answers. Conditions and states enter. Status patches leave.
 */
@NullMarked
package dev.sluice.checks.controller;

import org.jspecify.annotations.NullMarked;
