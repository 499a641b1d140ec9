/// A command that works with the broker of the selected context, unless options or variables name another.
protocol UsesContext {}
