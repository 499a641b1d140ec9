import MartletCommands

await Martlet.main()
