import ArgumentParser
import Simulation

SimulateCommand.main()
