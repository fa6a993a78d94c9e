/**
 * Carries out what the policies decide: reads jobs, reconciles each by one thread at a time, and
 * writes jobs and Workloads. Events of jobs and Workloads enter. Patches and events leave.
 */
@NullMarked
package dev.sluice.jobs.controller;

import org.jspecify.annotations.NullMarked;
