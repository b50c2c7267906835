// The names of teams, for organizers and the teams themselves.

/** Team is a registration, or a record of a team. */
export type Team = { team: string; alias?: string; anonymous?: boolean };

/**
 * teamName returns the name of a team. An anonymous team can have the name of another team, so its alias follows. Only
 * organizers and the team get the alias of a record. A registration has one even if the team is not anonymous.
 */
export function teamName({ team, alias, anonymous }: Team): string {
  return alias && alias !== team && anonymous !== false ? `${team} (alias ${alias})` : team;
}
